// Registered SAML applications as the protocol code sees them. Metadata is parsed and keys are imported once for each
// version of a registration, never on the way of a sign-in.

import type { KeyObject } from 'node:crypto';
import type { ServiceProviderSettings } from '../applications/service-provider.ts';
import { type Sql, sqlFor } from '../platform/sql.ts';
import { isStorable } from '../platform/storable.ts';
import type { AcsEndpoint } from './acs.ts';
import { readCertificate } from './certificates.ts';
import type { SenderKeys } from './enveloped-signature.ts';
import { parseServiceProviderMetadata, type SloEndpoint, type SpMetadata } from './metadata-parse.ts';
import type { NameIdChoice } from './nameid.ts';
import { bindings } from './names.ts';

export interface ServiceProvider extends NameIdChoice, SenderKeys {
  applicationId: string;
  name: string;
  acs: readonly AcsEndpoint[];
  slo: readonly SloEndpoint[];
  requireSigned: boolean;
  settings: ServiceProviderSettings;
  /** E-mail addresses of its metadata. */
  contacts: readonly string[];
  /** The key that assertions are encrypted to; undefined when they stay readable. */
  encryptFor: KeyObject | undefined;
}

export interface ServiceProviders {
  /** The enabled application of this entity ID. */
  find(entityId: string): Promise<ServiceProvider | undefined>;
  /** Its assertion consumer service addresses: what the engine takes for redirect URIs. */
  assertionConsumerUrls(entityId: string): Promise<string[]>;
}

export interface ServiceProvidersNeeds {
  sql: Sql;
  kind: 'sqlite' | 'postgresql';
  /** Our own wish: signed requests from everybody. */
  wantSigned(): boolean;
}

const MAX_KEPT = 1000;

interface Row {
  id: string;
  name: string;
  updatedAt: Date;
}

const ENABLED = "FROM applications WHERE client_id = ? AND protocol = 'saml' AND enabled = true";
const SQL = {
  // The metadata may be long, and is read only when it is new.
  find: `SELECT id, name, updated_at AS "updatedAt" ${ENABLED}`,
  metadata: `SELECT metadata ${ENABLED}`,
};

export function createServiceProviders({ sql, kind, wantSigned }: ServiceProvidersNeeds): ServiceProviders {
  const text = sqlFor(kind, SQL);
  const parsed = new Map<string, { version: number; provider: ServiceProvider }>();

  async function current(entityId: string): Promise<ServiceProvider | undefined> {
    if (!isStorable(entityId)) return undefined;
    const [row] = await sql.query<Row>(text.find, entityId);
    if (!row) return undefined;
    const version = row.updatedAt.getTime();
    const kept = parsed.get(entityId);
    if (kept?.version === version && kept.provider.applicationId === row.id) return kept.provider;
    const [stored] = await sql.query<{ metadata: string }>(text.metadata, entityId);
    if (!stored) return undefined;
    const provider = build(entityId, row, stored.metadata);
    if (parsed.size >= MAX_KEPT) parsed.clear();
    parsed.set(entityId, { version, provider });
    return provider;
  }

  return {
    async find(entityId) {
      const provider = await current(entityId);
      return provider && wantSigned() && !provider.requireSigned ? { ...provider, requireSigned: true } : provider;
    },

    async assertionConsumerUrls(entityId) {
      const { acs = [] } = (await current(entityId)) ?? {};
      return [...new Set(acs.filter(({ binding }) => binding === bindings.post).map(({ url }) => url))];
    },
  };
}

/** Single logout addresses of stored settings, for whoever reads them inside a transaction. */
export function sloEndpoints(settings: ServiceProviderSettings): readonly SloEndpoint[] {
  return partsOf(settings).slo;
}

function build(entityId: string, { id, name }: Row, metadata: string): ServiceProvider {
  const settings = JSON.parse(metadata) as ServiceProviderSettings;
  const parts = partsOf(settings);
  const encryption = parts.encryptionCertificates[0]?.publicKey;
  return {
    applicationId: id,
    entityId,
    name,
    acs: parts.acs,
    slo: parts.slo,
    contacts: parts.contacts.flatMap(({ emails }) => emails),
    configured: settings.name_id_format,
    offered: parts.nameIdFormats,
    signingKeys: parts.signingCertificates.map(({ publicKey }) => publicKey),
    allowSha1: settings.allow_sha1,
    requireSigned: settings.require_signed_requests ?? parts.authnRequestsSigned,
    settings,
    encryptFor: settings.encrypt_assertion === 'never' ? undefined : encryption,
  };
}

type Parts = Pick<
  SpMetadata,
  | 'acs'
  | 'slo'
  | 'contacts'
  | 'signingCertificates'
  | 'encryptionCertificates'
  | 'nameIdFormats'
  | 'authnRequestsSigned'
>;

// Judged when it was registered; by now its validity may have run out, which the daily refresh deals with.
const LONG_AGO = new Date(0);

function partsOf(settings: ServiceProviderSettings): Parts {
  if (settings.metadata_xml) return parseServiceProviderMetadata(settings.metadata_xml, LONG_AGO);
  const certificates = (settings.certificates ?? []).map(({ use, pem }) => ({
    use,
    certificate: readCertificate(pem),
  }));
  const forUse = (use: 'signing' | 'encryption') =>
    certificates.filter((entry) => entry.use === undefined || entry.use === use).map(({ certificate }) => certificate);
  return {
    acs: (settings.acs ?? []).map(({ url, index, default: isDefault }) => ({
      url,
      index,
      isDefault,
      binding: bindings.post,
    })),
    slo: (settings.slo ?? []).map(({ url, binding, response_url }) => ({
      binding,
      location: url,
      ...(response_url === undefined ? {} : { responseLocation: response_url }),
    })),
    signingCertificates: forUse('signing'),
    encryptionCertificates: forUse('encryption').filter(({ kind }) => kind === 'rsa'),
    contacts: [],
    nameIdFormats: [],
    authnRequestsSigned: false,
  };
}
