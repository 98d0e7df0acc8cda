// Registered SAML applications as the protocol code uses them. Metadata is parsed and keys are imported once per version
// of a registration, not at each sign-in.

import { readMetadata, type SamlApplication } from '../../../applications/application.ts';
import type { ServiceProviderSettings } from '../../../applications/fields/service-provider.ts';
import { limits } from '../../../base/limits.ts';
import { BoundedMap } from '../../../base/platform/bounded-map.ts';
import { hotStatements } from '../../../base/storage/statements.ts';
import { isStorable } from '../../../base/storage/storable-text.ts';
import { nameIn, type PageText } from '../../../base/texts/text.ts';
import type { Core } from '../../../core/core.ts';
import type { NameIdChoice } from '../messages/name-id.ts';
import { readCertificate } from '../xml/certificates.ts';
import { chooseEncryption, type Encryption } from '../xml/encrypt.ts';
import type { SenderKeys } from '../xml/enveloped-signature.ts';
import { SamlError } from '../xml/errors.ts';
import { bindings } from '../xml/names.ts';
import type { SloEndpoint } from './entity.ts';
import { type AcsEndpoint, parseServiceProviderMetadata, type SpParts } from './parse.ts';

export interface ServiceProvider extends NameIdChoice, SenderKeys {
  applicationId: string;
  name: string;
  /** The name for pages, in their language. */
  title: PageText;
  acs: readonly AcsEndpoint[];
  slo: readonly SloEndpoint[];
  requireSigned: boolean;
  settings: ServiceProviderSettings;
  /** Email addresses of its metadata. */
  contacts: readonly string[];
  /** When its metadata from a URL is used no more; undefined: never. */
  metadataEndsAt: Date | undefined;
  /** How assertions are encrypted; undefined: they are not. */
  encryption: Encryption | undefined;
  /** Nothing may be sent without encryption: that is demanded, or the metadata has a key for it. */
  mustEncrypt: boolean;
}

export type ServiceProviders = ReturnType<typeof createServiceProviders>;

export interface TitleRow extends Row {
  clientId: string;
  /** The column. */
  metadata: string;
}

const MAX_CACHED = 1000;

interface Row {
  id: string;
  name: string;
  updatedAt: Date;
}

export const statements = hotStatements('service-providers', {
  find: `SELECT id, name, updated_at AS "updatedAt" FROM applications
    WHERE client_id = ? AND protocol = 'saml' AND enabled = true`,
});

export function createServiceProviders({ db, sql, settings }: Core) {
  const parsed = new BoundedMap<string, { version: number; provider: ServiceProvider }>(MAX_CACHED);

  async function currentServiceProvider(entityId: string): Promise<ServiceProvider | undefined> {
    if (!isStorable(entityId)) return undefined;
    const [row] = await sql.query<Row>(statements.find, entityId);
    if (!row) return undefined;
    const known = cached(entityId, row);
    if (known) return known;
    // The metadata may be long, and is read only when it is new.
    const stored = await db.application.findFirst({
      where: { clientId: entityId, protocol: 'saml', enabled: true },
    });
    if (!stored) return undefined;
    return add(entityId, row, stored.metadata);
  }

  function cached(entityId: string, { id, updatedAt }: Row): ServiceProvider | undefined {
    const known = parsed.get(entityId);
    return known?.version === updatedAt.getTime() && known.provider.applicationId === id ? known.provider : undefined;
  }

  function add(entityId: string, row: Row, metadata: string): ServiceProvider {
    const provider = build(entityId, row, readMetadata('saml', metadata));
    parsed.set(entityId, { version: row.updatedAt.getTime(), provider });
    return provider;
  }

  return {
    /** The enabled application of this entity ID. Throws SamlError when its stored metadata is not valid any more. */
    async find(entityId: string): Promise<ServiceProvider | undefined> {
      const provider = await currentServiceProvider(entityId);
      return provider && settings.latest().saml_signed_requests && !provider.requireSigned
        ? { ...provider, requireSigned: true }
        : provider;
    },

    /** The name of a SAML application for pages. Reads nothing: its row was read. */
    titleOf(row: TitleRow): PageText {
      try {
        return (cached(row.clientId, row) ?? add(row.clientId, row, row.metadata)).title;
      } catch (error) {
        if (!(error instanceof SamlError)) throw error;
        return row.name; // its sign-ins fail with this error
      }
    },

    /** Its ACS URLs, which are the redirect URIs of the engine's client. */
    async assertionConsumerUrls(entityId: string): Promise<string[]> {
      const { acs = [] } = (await currentServiceProvider(entityId)) ?? {};
      return [...new Set(acs.filter(({ binding }) => binding === bindings.post).map(({ url }) => url))];
    },
  };
}

/**
 * When metadata that is read from a URL expires (validUntil), and when it is used no more after its grace period. Undefined
 * without validUntil.
 */
export function metadataEnd(settings: ServiceProviderSettings): { validUntil: Date; endsAt: Date } | undefined {
  if (settings.metadata_url === undefined || !settings.metadata_xml?.includes('validUntil')) return undefined;
  const { validUntil } = parseServiceProviderMetadata(settings.metadata_xml, LONG_AGO);
  if (!validUntil) return undefined;
  return { validUntil, endsAt: new Date(validUntil.getTime() + limits.saml.metadataGraceSeconds * 1000) };
}

/** Throws SamlError metadata_expired after the grace period. */
export function assertMetadataValid({ name, metadataEndsAt }: ServiceProvider, now: Date): void {
  if (!metadataEndsAt || metadataEndsAt > now) return;
  throw new SamlError('metadata_expired', {
    message: `The metadata of ${name} has expired.`,
    received: now.toISOString(),
    expected: `before ${metadataEndsAt.toISOString()}`,
  });
}

/** The single logout endpoints of stored settings. Throws SamlError when they are no longer valid. */
export function sloEndpoints(settings: ServiceProviderSettings): readonly SloEndpoint[] {
  return partsOf(settings).slo;
}

/** A name that is none of the metadata is the one that an administrator chose, for all languages. */
function titleIn(name: string, names: Readonly<Record<string, string>>): PageText {
  return Object.values(names).includes(name) ? nameIn(name, names) : name;
}

/** What the requests of a service provider are checked against, without parsed keys. */
export interface SamlSide extends NameIdChoice {
  acs: readonly AcsEndpoint[];
  ignoresContext: boolean;
  /** PEM of the certificates that its requests may be signed with. */
  certificates: readonly string[];
}

/** The same of settings that may not be registered. Throws SamlError when their metadata is not valid. */
export function samlSideOf(entityId: string, settings: ServiceProviderSettings): SamlSide {
  const { acs, nameIdFormats, signingCertificates } = partsOf(settings);
  return {
    entityId,
    acs,
    configured: settings.name_id_format,
    isForced: settings.force_name_id_format,
    offered: nameIdFormats,
    ignoresContext: settings.ignore_requested_authn_context,
    certificates: signingCertificates.map(({ pem }) => pem),
  };
}

/** An application as its sign-ins see it, also while it is disabled. Throws SamlError when its metadata is not valid any more. */
export function serviceProviderOf({ clientId, metadata, ...row }: SamlApplication): ServiceProvider {
  return build(clientId, row, metadata);
}

function build(
  entityId: string,
  { id, name }: { id: string; name: string },
  settings: ServiceProviderSettings,
): ServiceProvider {
  const parts = partsOf(settings);
  const { encrypt_assertion: encrypts, allow_cbc: allowCbc } = settings;
  const choices = parts.encryptionCertificates.map(({ publicKey, methods }) =>
    chooseEncryption(publicKey, methods, allowCbc),
  );
  return {
    applicationId: id,
    entityId,
    name,
    title: titleIn(name, parts.names),
    acs: parts.acs,
    slo: parts.slo,
    contacts: parts.contacts.flatMap(({ emails }) => emails),
    configured: settings.name_id_format,
    isForced: settings.force_name_id_format,
    offered: parts.nameIdFormats,
    signingKeys: parts.signingCertificates.map(({ publicKey }) => publicKey),
    allowSha1: settings.allow_sha1,
    requireSigned: settings.require_signed_requests ?? parts.authnRequestsSigned,
    settings,
    metadataEndsAt: metadataEnd(settings)?.endsAt,
    encryption: encrypts === 'never' ? undefined : choices.find((choice) => typeof choice === 'object'),
    mustEncrypt: encrypts === 'always' || (encrypts === 'auto' && choices.length > 0),
  };
}

// validUntil was checked at registration; metadataEnd() says what holds for metadata from a URL that has expired since.
const LONG_AGO = new Date(0);

function partsOf(settings: ServiceProviderSettings): SpParts {
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
    encryptionCertificates: forUse('encryption')
      .filter(({ kind }) => kind === 'rsa')
      .map((one) => ({ ...one, methods: [] })),
    names: {},
    contacts: [],
    nameIdFormats: [],
    authnRequestsSigned: false,
  };
}
