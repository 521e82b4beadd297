/** The trusted documents of a server. In: the settings; out: the documents, and the roles for which they are checked. */
import type { Observer } from '../events.ts';
import { WatchedDocuments } from '../http/documents/trusted-document-files.ts';
import { ConfigurationError } from './config.ts';

interface DocumentSettings {
  readonly trustedDocuments: string | undefined;
  readonly onlyTrustedDocuments: boolean;
}

/** Null if there are none. Throws `ConfigurationError` if they cannot be read. */
export async function openTrustedDocuments(
  { trustedDocuments, onlyTrustedDocuments }: DocumentSettings,
  observe: Observer,
): Promise<WatchedDocuments | null> {
  if (trustedDocuments === undefined) {
    if (!onlyTrustedDocuments) return null;
    throw new ConfigurationError(['--only-trusted-documents refuses every request without --trusted-documents: name their file or folder']);
  }
  try {
    return await WatchedDocuments.open(trustedDocuments, observe);
  } catch (error) {
    throw new ConfigurationError([`--trusted-documents: ${(error as Error).message}`]);
  }
}

/** The roles for which trusted documents are checked: those of the setting, or else Supabase's usual roles. */
export function documentRolesOf({
  documentRoles,
  anonRole,
}: {
  readonly documentRoles: readonly string[];
  readonly anonRole: string;
}): readonly string[] {
  return documentRoles.length > 0 ? documentRoles : [...new Set([anonRole, 'authenticated'])];
}
