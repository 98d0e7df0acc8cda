// The forms of an application: its fields (applications/fields/) by tab and section. Together they hold every key of its declaration.

import type { Protocol } from '../../../applications/application.ts';
import { type ApplicationSection, applicationFields } from '../../../applications/fields/application-field.ts';
import { oidcClient } from '../../../applications/fields/oidc-client.ts';
import { proxiedApplication } from '../../../applications/fields/proxied-application.ts';
import { serviceProvider } from '../../../applications/fields/service-provider.ts';
import { describedFields } from '../../../base/platform/described-fields.ts';
import { listOf, t, textAt } from '../../../base/texts/text.ts';
import {
  type FieldOptions,
  type FieldSource,
  type FormKey,
  type KeySection,
  keyOf,
} from '../../console/form-fields.ts';
import { sentValue } from '../../console/row-buttons.ts';
import { productPresets } from '../presets/products.ts';
import { type Choices, METADATA_SOURCE, NO_CHOICES, ownKeys, sourceChoice } from './own-keys.ts';

export const FORM_TABS = ['settings', 'access', 'claims', 'credentials', 'provisioning'] as const;
export type FormTab = (typeof FORM_TABS)[number];

interface Part extends Omit<KeySection, 'keys' | 'title'> {
  tab: FormTab;
}

/** The sections in the order of each tab; one without a field of the protocol is left out. */
const parts: Record<ApplicationSection | 'metadata', Part> = {
  general: { tab: 'settings' },
  metadata: { tab: 'settings' },
  'metadata-url': { tab: 'settings', when: 'url' },
  'metadata-document': { tab: 'settings', when: 'paste' },
  acs: { tab: 'settings', when: 'hand' },
  slo: { tab: 'settings', when: 'hand' },
  keys: { tab: 'settings', when: 'hand' },
  'saml-signing': {
    tab: 'settings',
    isAdvanced: true,
    summary: ({ sign = 'assertion', encrypt_assertion = 'auto' }) =>
      t('console.fields.saml-signing.summary', { sign: String(sign), encrypt: String(encrypt_assertion) }),
  },
  urls: { tab: 'settings' },
  tokens: {
    tab: 'settings',
    isAdvanced: true,
    summary: ({ grant_types = ['authorization_code'] }) =>
      listOf(
        (grant_types as string[]).map(
          (grant) => textAt(`console.field.grant_types.${grant.split(':').at(-1)}`) ?? grant,
        ),
      ),
  },
  signing: {
    tab: 'settings',
    isAdvanced: true,
    summary: ({ id_token_signed_response_alg: alg = 'RS256', require_pkce }) =>
      t('console.fields.signing.summary', { alg: String(alg), pkce: require_pkce === false ? 'optional' : 'required' }),
  },
  who: { tab: 'access' },
  paths: { tab: 'access' },
  programs: { tab: 'access' },
  requirements: { tab: 'access' },
  where: {
    tab: 'access',
    isAdvanced: true,
    summary({ connections = 'all', local_sign_in }) {
      const local = local_sign_in === false ? 'no' : 'yes';
      if (connections === 'all') return t('console.fields.sources.summary-all', { local });
      return t('console.fields.sources.summary-selected', { local, count: (connections as string[]).length });
    },
  },
  consent: { tab: 'access' },
  headers: { tab: 'claims' },
  'name-id': { tab: 'claims' },
  attributes: { tab: 'claims' },
  claims: { tab: 'claims' },
  subject: { tab: 'claims', isAdvanced: true, summary: ({ subject_type = 'public' }) => String(subject_type) },
  roles: {
    tab: 'claims',
    isAdvanced: true,
    summary: ({ roles_filter, roles_rename, permissions_filter, groups_filter, groups_direct }) =>
      roles_filter || roles_rename || permissions_filter || groups_filter || groups_direct
        ? t('console.fields.roles.summary-limited')
        : t('console.fields.roles.summary-all'),
  },
  provisioning: { tab: 'provisioning' },
  'client-auth': { tab: 'credentials' },
  'public-keys': {
    tab: 'credentials',
    isAdvanced: true,
    summary: ({ jwks, jwks_uri }) =>
      jwks
        ? t('console.field.jwks.label')
        : jwks_uri
          ? t('console.field.jwks_uri.label')
          : t('console.fields.public-keys.summary-none'),
  },
};

const shapes = { oidc: oidcClient.shape, saml: serviceProvider.shape, proxy: proxiedApplication.shape };
const sourcesOf = (protocol: Protocol) =>
  describedFields(shapes[protocol], applicationFields).map((field) => ({ ...field, texts: 'console.field.' }));
const sources = { oidc: sourcesOf('oidc'), saml: sourcesOf('saml'), proxy: sourcesOf('proxy') };

/** The sections of a tab. */
export function sectionsOf(protocol: Protocol, tab: FormTab, choices: Choices): KeySection[] {
  const options = optionsFor(protocol, choices);
  const keysIn = (section: string, when: string | undefined): FormKey[] => {
    if (section === 'metadata') return protocol === 'saml' ? [sourceChoice] : [];
    return sources[protocol]
      .filter(({ about }) => about.section === section)
      .map((source) => onlyWith(when, formKey(source, choices, options)));
  };
  return Object.entries(parts).flatMap(([section, { tab: ofTab, ...part }]): KeySection[] => {
    const keys = ofTab === tab ? keysIn(section, part.when) : [];
    if (keys.length === 0) return [];
    const lead = textAt(`console.field-section.${section}.lead`);
    const title = textAt(`console.field-section.${section}.title`) ?? section;
    return [{ title, ...(lead && { lead }), ...part, keys }];
  });
}

/** The key of this name, for another form. */
export function applicationKey(protocol: Protocol, name: string, choices: Choices = NO_CHOICES): FormKey {
  const source = sources[protocol].find((one) => one.name === name);
  if (!source) throw new Error(`an application has no field ${name}`);
  return formKey(source, choices, optionsFor(protocol, choices));
}

const formKey = (source: FieldSource, choices: Choices, options: FieldOptions): FormKey =>
  ownKeys[source.name]?.(source, choices) ?? keyOf(source, options);

function optionsFor(protocol: Protocol, { apis, signingAlgs }: Choices): FieldOptions {
  const asOptions = (values: readonly string[]) => values.map((value) => ({ value, label: value }));
  return {
    apis: asOptions(apis),
    'signing algorithms': asOptions(signingAlgs),
    // Read by the one field that has them: not at the start of the server.
    get presets() {
      return productPresets()
        .filter((preset) => preset.protocol === protocol)
        .map(({ id, title }) => ({ value: id, label: title }));
    },
  };
}

/** A key that only counts with its source of metadata; with another one it is left out. */
function onlyWith(source: string | undefined, key: FormKey): FormKey {
  if (source === undefined) return key;
  return { ...key, read: (sent) => (sentValue(sent, METADATA_SOURCE) === source ? key.read(sent) : undefined) };
}
