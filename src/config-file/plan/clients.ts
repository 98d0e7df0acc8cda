// Plans the OIDC clients: the file's declarations against the registered ones. A secret in the file is compared with the
// stored ones, so a second apply changes nothing; a client without a secret in the file keeps its secrets.
import type { Application, OidcApplication } from '../../applications/application.ts';
import type { Applications } from '../../applications/applications.ts';
import { metadataOf, needsSecretValue, type OidcClient, usesSecret } from '../../applications/fields/oidc-client.ts';
import { unlistedAlgFaults } from '../../applications/rules/signing-algorithms.ts';
import { inTurns } from '../../base/platform/turns.ts';
import { at, fault } from '../../base/texts/faults.ts';
import {
  differences,
  type FieldChange,
  nothingPlanned,
  type Planned,
  type PlanOptions,
  secretChange,
  secretSet,
  takeOver,
} from './steps.ts';

const byFile = { source: 'file' } as const;

/** `stored` contains every application; declared ones are removed from it. */
export async function planClients(
  declared: readonly OidcClient[],
  stored: Map<string, Application>,
  /** `signingAlgs`: the setting `signing_algorithms` once the file is applied. */
  { applications, signingAlgs }: { applications: Applications; signingAlgs: readonly string[] },
  options: PlanOptions = {},
): Promise<Planned> {
  const plan = nothingPlanned();
  for await (const [index, client] of inTurns(declared.entries())) {
    const name = client.client_id;
    const existing = stored.get(name);
    stored.delete(name);
    if (applications.isReserved(name)) {
      plan.faults.push(fault(['clients', index, 'client_id'], 'reserved'));
      continue;
    }
    if (existing?.protocol === 'saml') {
      plan.faults.push(fault(['clients', index, 'client_id'], 'is-entity-id'));
      continue;
    }
    plan.faults.push(...at(['clients', index], unlistedAlgFaults(client, signingAlgs, existing?.metadata)));
    if (!existing) {
      const fields = differences(
        {},
        { ...declaredClient(client), ...(client.client_secret ? { client_secret: '(set)' } : {}) },
      );
      const run = async (tx: Parameters<Applications['get']>[1]) => {
        await applications.createOidc(client, { ...byFile, ...(tx ? { tx } : {}) });
      };
      plan.steps.push({ kind: 'create', section: 'clients', name, fields, run });
      if (usesSecret(client) && !client.client_secret) plan.warnings.push(withoutSecret(name));
      continue;
    }
    const secret = await secretFields(client, existing, applications, options);
    if (secret === 'lacking') plan.warnings.push(withoutSecret(name));
    const fields = [
      ...differences(declaredApplication(existing), declaredClient(client)),
      ...(secret === 'lacking' ? [] : secret),
      ...takeOver(existing.source),
    ];
    if (fields.length === 0) {
      plan.unchanged += 1;
      continue;
    }
    const { client_id: _id, ...input } = client;
    const run = async (tx: Parameters<Applications['get']>[1]) => {
      await applications.updateOidc(existing.id, input, { ...byFile, ...(tx ? { tx } : {}) });
    };
    plan.steps.push({ kind: 'change', section: 'clients', name, fields, run });
  }
  return plan;
}

/** The declaration for plan and export: without the secret, and with the name only if it differs from the client_id. */
function declaredClient(client: OidcClient): Record<string, unknown> {
  const { enabled, consent, access } = client;
  return { client_name: client.client_name ?? client.client_id, enabled, consent, access, ...metadataOf(client) };
}

/** A registered client in the same form. */
export function declaredApplication(application: OidcApplication): Record<string, unknown> {
  const { name, enabled, consent, access, metadata } = application;
  return { client_name: name, enabled, consent, access, ...metadata };
}

async function secretFields(
  client: OidcClient,
  existing: OidcApplication,
  applications: Applications,
  { hidesSecrets = false }: PlanOptions,
): Promise<FieldChange[] | 'lacking'> {
  if (!usesSecret(client)) return [];
  if (hidesSecrets && client.client_secret !== undefined) return [secretSet('client_secret')];
  const unexpired = await applications.unexpiredSecrets(existing.id);
  const usable = unexpired.filter((secret) => !needsSecretValue(client) || secret.value !== undefined);
  if (client.client_secret === undefined) return usable.length > 0 ? [] : 'lacking';
  const known = usable.length > 0 && (await applications.hasSecret(existing.id, client.client_secret));
  return known ? [] : [secretChange('client_secret')];
}

function withoutSecret(name: string): string {
  return `client ${name} has no secret, so it can't authenticate: add client_secret to the file, or run: gatehouse app secret ${name}`;
}
