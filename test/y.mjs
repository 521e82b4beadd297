import { readFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { citext } from '@electric-sql/pglite/contrib/citext';
import { hstore } from '@electric-sql/pglite/contrib/hstore';
import { ltree } from '@electric-sql/pglite/contrib/ltree';

const m = process.argv[3];
const startParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=16MB'];
const t = process.cpuUsage();
const d = await PGlite.create({
  loadDataDir: new Blob([readFileSync(process.argv[2])]),
  extensions: m ? {} : { citext, hstore, ltree },
  startParams,
});
console.log(process.cpuUsage(t));
await d.query('select 1');
console.log(process.cpuUsage(t));
await d.close();
