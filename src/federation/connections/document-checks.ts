// What a document of an upstream must say before it is used: the identity that the connection declares, endpoints that may be
// called, and keys. Pure but for the metadata parser.
import { z } from 'zod';
import { check, faultLine } from '../../base/texts/faults.ts';
import { type Text, t } from '../../base/texts/text.ts';
import { fetchedKeySet } from '../../core/keys/foreign-keys.ts';
import type { Connection } from './connection.ts';
import { webUri } from './kinds/fields.ts';

export type DocumentKind = 'discovery' | 'jwks' | 'metadata';

/** What this folder needs to know of SAML metadata. */
export interface ReadMetadata {
  entityId: string;
  signingCertificates: readonly { expiresAt: Date }[];
  /** Endpoints that cannot be used. */
  leftOut: readonly { what: string; location: string; fault: string }[];
}
/** Throws with a sentence for the administrator. */
export type ParseMetadata = (xml: string) => ReadMetadata;

/** Why a document can't be used, for the administrator. Its message is English, for logs. */
export class DocumentFault extends Error {
  override name = 'DocumentFault';
  readonly text: Text;

  constructor(text: Text, options?: ErrorOptions) {
    super(String(text), options);
    this.text = text;
  }
}

/** OpenID Connect Discovery 3: what is used here; every URL in it must be one that may be called. */
const discovery = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: webUri,
  token_endpoint: webUri,
  jwks_uri: webUri,
  userinfo_endpoint: webUri.optional(),
  end_session_endpoint: webUri.optional(),
});

/**
 * The document in the form that is stored. Throws DocumentFault, and what `parse` throws.
 *
 * @param before the last good one, whose entity ID stays where the connection declares none
 */
export function checkedDocument(
  kind: DocumentKind,
  { settings, kind: connectionKind }: Connection,
  content: string,
  { parse, before }: { parse: ParseMetadata; before: string | undefined },
): string {
  if (kind === 'metadata') {
    const read = parse(content);
    const declared = 'entity_id' in settings ? settings.entity_id : undefined;
    const expected = declared ?? (before === undefined ? undefined : parse(before).entityId);
    if (expected !== undefined && read.entityId !== expected)
      throw new DocumentFault(t('console.connection-document.other-entity-id', { found: read.entityId, expected }));
    const isPinned = 'certificates' in settings && settings.certificates.length > 0;
    if (!isPinned && read.signingCertificates.length === 0)
      throw new DocumentFault(t('console.connection-document.no-certificate'));
    return content;
  }
  const parsed = jsonOf(content);
  if (kind === 'jwks') {
    const { keys } = keySetIn(parsed);
    if (keys.length === 0) throw new DocumentFault(t('console.connection-document.no-key'));
    return JSON.stringify({ keys });
  }
  const document = assertValid(discovery, parsed, (fault) =>
    t('console.connection-document.invalid-discovery', { fault }),
  );
  const issuer = connectionKind === 'oidc' ? settings.issuer : undefined;
  // Character by character (OpenID Connect Discovery 4.3): a slash at the end counts.
  if (document.issuer !== issuer)
    throw new DocumentFault(
      t('console.connection-document.other-issuer', { found: document.issuer, expected: String(issuer) }),
    );
  return JSON.stringify(document);
}

/** Shared secrets in a JWKS must never verify a signature, so it leaves them out. */
function keySetIn(parsed: unknown) {
  try {
    return fetchedKeySet(parsed);
  } catch (cause) {
    const fault = cause instanceof Error ? cause.message : String(cause);
    throw new DocumentFault(t('console.connection-document.invalid-jwks', { fault }), { cause });
  }
}

function jsonOf(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch (cause) {
    throw new DocumentFault(t('console.connection-document.not-json'), { cause });
  }
}

function assertValid<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  invalid: (fault: string) => Text,
): z.output<Schema> {
  const checked = check(schema, value);
  if (checked.ok) return checked.value;
  const [found] = checked.faults;
  throw new DocumentFault(invalid(found ? faultLine(found) : 'unknown error'));
}
