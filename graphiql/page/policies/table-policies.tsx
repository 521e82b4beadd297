/** The grants and policies of a table: a matrix of roles and verbs, sentences, and the SQL. */
import type { AccessReport, Reach, RoleAccess, TableAccess, Verb, VerbAccess } from '../../../src/access/access.ts';
import { CodeBlock } from '../code-block.tsx';

const verbs: readonly (readonly [verb: Verb, word: string])[] = [
  ['select', 'read'],
  ['insert', 'insert'],
  ['update', 'update'],
  ['delete', 'delete'],
];

export function TablePolicies({ table, report }: { readonly table: TableAccess; readonly report: AccessReport }) {
  const warnings = table.notes.filter(({ isWarning }) => isWarning);
  const notes = table.notes.filter(({ isWarning }) => !isWarning);
  return (
    <div className="policies-body">
      {warnings.map(({ text }) => (
        <p key={text} className="policy-warning">
          <strong>Mind:</strong> {text}
        </p>
      ))}
      <Matrix table={table} />
      <h3>In plain words</h3>
      <ul className="policy-sentences">
        {table.sentences.map(({ verb, text, reach }) => (
          <li key={`${verb} ${text}`} className={reach}>
            {text}
          </li>
        ))}
      </ul>
      {notes.map(({ text }) => (
        <p key={text} className="muted">
          {text}
        </p>
      ))}
      <Memberships report={report} />
      <h3>{table.policies.length === 1 ? '1 policy' : `${table.policies.length} policies`}</h3>
      {table.policies.length === 0 && <p className="muted">No policy is written for it.</p>}
      {table.policies.map(({ name, text, sql, isPermissive }) => (
        <article key={name} className="policy">
          <h4>
            {name} {!isPermissive && <span className="policy-mark">restrictive</span>}
          </h4>
          <p>{text}</p>
          <CodeBlock text={sql} />
        </article>
      ))}
      <h3>Grants</h3>
      {table.sql === '' ? (
        <p className="muted">Nothing is granted: only its owner, {table.owner}, may use it.</p>
      ) : (
        <CodeBlock text={table.sql} />
      )}
      <Definers report={report} />
    </div>
  );
}

function Matrix({ table: { roles } }: { readonly table: TableAccess }) {
  return (
    <section className="policy-matrix" aria-label="Rights by role" tabIndex={0}>
      <table>
        <caption className="visually-hidden">Which rows each role may reach</caption>
        <thead>
          <tr>
            <th scope="col">Role</th>
            {verbs.map(([verb, word]) => (
              <th key={verb} scope="col">
                {word}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {roles.map((role) => (
            <Line key={role.role} role={role} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Line({ role: { role, verbs: of } }: { readonly role: RoleAccess }) {
  return (
    <tr>
      <th scope="row">{role}</th>
      {verbs.map(([verb]) => (
        <Cell key={verb} verb={verb} access={of[verb]} />
      ))}
    </tr>
  );
}

const symbols: Readonly<Record<Reach, string>> = { all: '●', some: '◐', none: '○' };

function Cell({ verb, access }: { readonly verb: Verb; readonly access: VerbAccess }) {
  const { reach, isGranted, columns, condition, check, reason } = access;
  const all = verb === 'insert' ? 'any row' : 'every row';
  const word = reach === 'all' ? all : reach === 'some' ? 'rows where' : isGranted ? 'no row passes' : 'may not';
  return (
    <td className={`reach ${reach}`}>
      <div>
        <span aria-hidden="true">{symbols[reach]}</span> {word} {condition !== null && <code>{condition}</code>}
      </div>
      {check !== null && (
        <div>
          afterwards <code>{check}</code>
        </div>
      )}
      {columns !== null && reach !== 'none' && <div className="reach-columns">only {columns.join(', ')}</div>}
      {(reach !== 'none' || isGranted) && <small>{reason}</small>}
    </td>
  );
}

function Memberships({ report: { roles } }: { readonly report: AccessReport }) {
  const members = roles.filter(({ inherits }) => inherits.length > 0);
  if (members.length === 0) return null;
  return <p className="muted">{members.map(({ name, inherits }) => `${name} has the privileges of ${inherits.join(', ')}.`).join(' ')}</p>;
}

/** They may reach rows of any table past its policies. */
function Definers({ report: { definers } }: { readonly report: AccessReport }) {
  const executable = definers.filter(({ roles }) => roles.length > 0);
  if (executable.length === 0) return null;
  return (
    <>
      <h3>Functions that run as their owner</h3>
      <p className="muted">
        A <code>security definer</code> function reaches what its owner may, whatever the policies say of its caller.
      </p>
      <ul className="policy-sentences">
        {executable.map(({ name, owner, ownerBypassesRowSecurity, roles }) => (
          <li key={name} className={ownerBypassesRowSecurity ? 'all' : 'some'}>
            {name} runs as {owner}
            {ownerBypassesRowSecurity ? ', to whom no policy applies' : ''}; {roles.join(', ')} may call it.
          </li>
        ))}
      </ul>
    </>
  );
}
