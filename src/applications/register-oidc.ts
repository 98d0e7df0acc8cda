// Registers and changes OIDC clients (OpenID Connect Dynamic Client Registration 1.0, section 2), with their secrets.
import { badRequest, conflict } from '../base/http/errors.ts';
import { randomId } from '../base/platform/random.ts';
import { type Tx, withinTransaction } from '../base/storage/database.ts';
import { t } from '../base/texts/text.ts';
import type { Application, OidcApplication } from './application.ts';
import type { Change, Registered } from './changes.ts';
import {
  metadataOf,
  needsSecretValue,
  type OidcClient,
  type OidcClientInput,
  type OidcMetadata,
  oidcClient,
  usesSecret,
} from './fields/oidc-client.ts';
import { oidcRules } from './oidc-rules.ts';
import { unlistedAlgFaults } from './rules/signing-algorithms.ts';
import type { Secrets } from './secrets.ts';
import { withProfileFields } from './security-profile.ts';
import { check, formatPath } from './validation.ts';
import {
  type ApplicationColumns,
  changeableApplication,
  insertApplication,
  updateApplication,
  type WriteContext,
} from './write.ts';

type OidcContext = WriteContext & { secrets: Secrets };

/** Throws invalid_input (400) for a client that breaks the rules, and as insertApplication does. */
export async function createOidc(
  context: OidcContext,
  { client_id = randomId(), ...input }: Partial<OidcClientInput>,
  change: Change,
): Promise<Registered> {
  const client = checkClient(context, { client_id, ...input }, change);
  let clientSecret: string | undefined;
  const row = { clientId: client.client_id, protocol: 'oidc' as const, ...columnsOf(client) };
  const application = await insertApplication(context, row, change, async (id, tx) => {
    const wanted = client.client_secret !== undefined || (usesSecret(client) && change.source !== 'file');
    if (!wanted) return;
    const options = { sealed: needsSecretValue(client), value: client.client_secret };
    const added = await context.secrets.add(id, options, tx);
    if (client.client_secret === undefined) clientSecret = added.value;
  });
  return registered(application, clientSecret);
}

/** Replaces the declaration of a client; its client_id stays. Throws conflict (409) for a service provider. */
export function updateOidc(
  context: OidcContext,
  id: string,
  input: Omit<OidcClientInput, 'client_id'>,
  change: Change,
): Promise<Registered> {
  return withinTransaction(context.db, change.tx, async (tx) => {
    const before = await changeableApplication(context, id, change.source ?? 'local', tx);
    if (before.protocol !== 'oidc') throw conflict('conflict', { message: t('console.applications.problem.not-oidc') });
    const client = checkClient(context, { ...input, client_id: before.clientId }, change, before.metadata);
    const application = await updateApplication(context, before, columnsOf(client), change, tx);
    return registered(application, await updateSecrets(context, before, client, change, tx));
  });
}

/**
 * Brings the secrets of a changed client in line with its declaration; returns a secret that was generated. A client whose secrets have
 * expired gets none by another change, because nobody would know it.
 */
async function updateSecrets(
  { secrets }: OidcContext,
  { id, metadata: before }: OidcApplication,
  client: OidcClient,
  { source }: Change,
  tx: Tx,
): Promise<string | undefined> {
  const sealed = needsSecretValue(client);
  if (!usesSecret(client)) await tx.clientSecret.deleteMany({ where: { applicationId: id } });
  const unexpired = await secrets.listUnexpired(id, tx);
  // An HMAC needs the value of the secret, and a hash cannot be turned back into it.
  const unusable = sealed && unexpired.some((secret) => secret.value === undefined);
  if (!sealed) await secrets.hashAll(id, tx);
  const { client_secret: declared } = client;
  if (declared !== undefined) {
    const known = unexpired.some((secret) => secrets.matches(secret, declared));
    if (!known || unusable) await secrets.add(id, { sealed, value: declared, replace: 'now' }, tx);
    return undefined;
  }
  const lacking = usesSecret(client) && (unusable || (unexpired.length === 0 && !usesSecret(before)));
  if (!lacking || source === 'file') return undefined;
  return (await secrets.add(id, { sealed, replace: 'now' }, tx)).value;
}

/** The plan of the configuration file checks the algorithms of its clients with the settings that it declares. */
function checkClient({ settings }: OidcContext, input: unknown, { source }: Change, before?: OidcMetadata): OidcClient {
  const checked = check(oidcClient, withProfileFields(input), (client) => [
    ...oidcRules(client),
    ...(source === 'file' ? [] : unlistedAlgFaults(client, settings.latest().signing_algorithms, before)),
  ]);
  if (checked.ok) return checked.value;
  const fields = checked.faults.map(({ path, message }) => ({ field: formatPath(path), message }));
  throw badRequest('invalid_input', { fields, detail: fields });
}

function columnsOf(client: OidcClient): ApplicationColumns {
  const { enabled, consent, access } = client;
  return {
    name: client.client_name ?? client.client_id,
    enabled,
    consent,
    access,
    metadata: JSON.stringify(metadataOf(client)),
  };
}

function registered(application: Application, clientSecret: string | undefined): Registered {
  if (application.protocol !== 'oidc') throw new Error('an OpenID Connect application was expected');
  return { application, ...(clientSecret === undefined ? {} : { clientSecret }) };
}
