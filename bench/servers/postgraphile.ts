/**
 * PostGraphile 5: the Amber preset with the plugins that its users add for filters, orders, aggregates and short names; role and claims are
 * set per request.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { identifyCaller, readSurroundings } from './caller.ts';
import { peersFolder } from './install-peers.ts';

const { port, databaseUrl, superuserUrl, secret, poolSize } = readSurroundings();
const load = createRequire(`${peersFolder}/package.json`);
const { makePgService } = load('postgraphile/adaptors/pg');

/** Declares keys and relations of views, so that the view stays as plain as it is for the other servers. */
const smartTags = {
  version: 1,
  config: {
    class: {
      studio_album: { tags: { primaryKey: 'id', foreignKey: ['(artist_id) references artist (id)'] } },
      track: { tags: { foreignKey: ['(album_id) references studio_album (id)|@fieldName studioAlbum'] } },
    },
  },
};

const preset = {
  extends: [
    load('postgraphile/presets/amber').PostGraphileAmberPreset,
    load('@graphile/simplify-inflection').PgSimplifyInflectionPreset,
    load('postgraphile-plugin-connection-filter').PostGraphileConnectionFilterPreset,
    load('@graphile/pg-aggregates').PgAggregatesPreset,
  ],
  plugins: [load('@graphile-contrib/pg-order-by-related').PgOrderByRelatedPlugin, load('postgraphile/utils').jsonPgSmartTags(smartTags)],
  pgServices: [
    makePgService({
      connectionString: databaseUrl,
      superuserConnectionString: superuserUrl,
      poolConfig: { max: poolSize, idleTimeoutMillis: 0 },
      schemas: ['public'],
    }),
  ],
  // Filters by relations are an option of the filter plugin.
  schema: { connectionFilterRelations: true },
  grafserv: { graphqlPath: '/graphql', graphiql: false, watch: false, websockets: false },
  grafast: {
    explain: false,
    context: ({ node }: { node: { req: IncomingMessage } }) => {
      const { role, claims } = identifyCaller(node.req.headers, secret);
      return { pgSettings: { role, 'request.jwt.claims': claims } };
    },
  },
};

const service = load('postgraphile').postgraphile(preset).createServ(load('postgraphile/grafserv/node').grafserv);
const server = createServer();
await service.addTo(server);
await service.ready();
server.listen(port, '127.0.0.1');
