// What "New application" offers: kinds, and products by name with the addresses and attribute names of their own documentation
// (read 2026-11). Each asks only for what it needs and says how to set up the other side.
import type { Application } from '../../../applications/application.ts';
import { t } from '../../../base/texts/text.ts';
import type { Field } from '../../console/blocks.ts';
import { lines, parseNameValueLines } from '../../console/text-area.ts';
import { applicationKey } from '../form/sections.ts';
import type { Answers, Declaration, Preset } from './parts.ts';
import type { ProductPreset } from './products.ts';
import { productPresets, webAddress } from './products.ts';

const name: Field = {
  name: 'name',
  label: t('console.shared.name'),
  hint: t('console.applications.new.name-hint'),
  required: true,
};
const redirectUris: Field = {
  name: 'redirect_uris',
  label: t('console.field.redirect_uris.label'),
  type: 'textarea',
  rows: 3,
  required: true,
  hint: t('console.preset.redirect-uris-hint'),
};
const afterLogout: Field = {
  name: 'post_logout_redirect_uris',
  label: t('console.field.post_logout_redirect_uris.label'),
  type: 'textarea',
  rows: 2,
  hint: t('console.preset.post-logout-redirect-uris-hint'),
};

const homePage: Field = {
  name: 'client_uri',
  label: t('console.field.client_uri.label'),
  hint: t('console.field.client_uri.hint'),
};

/** The profile, and the keys that it needs. */
const FAPI_KEYS = ['profile', 'jwks_uri', 'jwks'].map((name) => applicationKey('oidc', name));

/** What a website needs before its proxy can ask. */
const WEBSITE_KEYS = ['proxy'].map((name) => applicationKey('proxy', name));

/** A list without the choice of no profile. */
const onlyProfiles = (field: Field): Field =>
  field.options ? { ...field, options: field.options.filter(({ value }) => value !== '') } : field;

/** The field of an uploaded document. */
export const METADATA_FILE = 'metadata_file';

export const genericPresets: readonly Preset[] = [
  {
    id: 'web',
    title: t('console.preset.web.title'),
    icon: 'globe',
    text: t('console.preset.web.text'),
    protocol: 'oidc',
    fields: [name, redirectUris, afterLogout, homePage],
    toDeclaration: (answers) => ({ ...codeFlow(answers), grant_types: ['authorization_code', 'refresh_token'] }),
  },
  {
    id: 'fapi2',
    title: t('console.field.profile.fapi2'),
    icon: 'landmark',
    text: t('console.preset.fapi2.text'),
    protocol: 'oidc',
    fields: [
      name,
      {
        ...redirectUris,
        hint: t('console.preset.fapi2.redirect-uris-hint'),
      },
      ...FAPI_KEYS.flatMap((key) => key.fields({ profile: 'fapi2' })).map(onlyProfiles),
    ],
    toDeclaration: (answers) => ({
      ...codeFlow(answers),
      grant_types: ['authorization_code', 'refresh_token'],
      ...Object.fromEntries(FAPI_KEYS.map((key) => [key.key, key.read(asLists(answers))])),
    }),
  },
  {
    id: 'spa',
    title: t('console.preset.spa.title'),
    icon: 'app-window',
    text: t('console.preset.spa.text'),
    protocol: 'oidc',
    fields: [name, redirectUris, afterLogout, homePage],
    toDeclaration: (answers) => ({ ...codeFlow(answers), token_endpoint_auth_method: 'none' }),
  },
  {
    id: 'native',
    title: t('console.preset.native.title'),
    icon: 'smartphone',
    text: t('console.preset.native.text'),
    protocol: 'oidc',
    fields: [
      name,
      {
        ...redirectUris,
        hint: t('console.preset.native.redirect-uris-hint'),
      },
    ],
    toDeclaration: (answers) => ({
      ...codeFlow(answers),
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
    }),
  },
  {
    id: 'service',
    title: t('console.preset.service.title'),
    icon: 'bot',
    text: t('console.preset.service.text'),
    protocol: 'oidc',
    fields: [
      name,
      {
        name: 'resources',
        label: t('console.field.resources.label'),
        type: 'textarea',
        rows: 2,
        hint: t('console.preset.service.apis-hint'),
      },
      {
        name: 'scope',
        label: t('console.field.scope.label'),
        hint: t('console.preset.service.scopes-hint'),
      },
    ],
    toDeclaration: (answers) => ({
      client_name: answers.name,
      grant_types: ['client_credentials'],
      ...(lines(answers.resources).length > 0 && { resources: lines(answers.resources) }),
      ...(answers.scope && { scope: answers.scope }),
    }),
  },
  {
    id: 'proxy',
    title: t('console.preset.proxy.title'),
    icon: 'globe',
    text: t('console.preset.proxy.text'),
    protocol: 'proxy',
    fields: [
      name,
      {
        name: 'url',
        label: t('console.preset.proxy.address'),
        required: true,
        hint: t('console.preset.proxy.address-hint'),
      },
      ...WEBSITE_KEYS.flatMap((key) => key.fields({})),
    ],
    toDeclaration: (answers) => ({
      name: answers.name,
      url: webAddress(answers.url),
      ...Object.fromEntries(WEBSITE_KEYS.map((key) => [key.key, key.read(asLists(answers))])),
    }),
  },
  {
    id: 'saml',
    title: t('console.preset.saml.title'),
    icon: 'file-badge',
    text: t('console.preset.saml.text'),
    protocol: 'saml',
    fields: [
      {
        name: METADATA_FILE,
        label: t('console.preset.saml.metadata-file'),
        type: 'file',
        accept: '.xml,text/xml,application/xml',
      },
      {
        name: 'metadata_url',
        label: t('console.field-section.metadata-url.title'),
        hint: t('console.preset.saml.metadata-url-hint'),
      },
      {
        name: 'metadata',
        label: t('console.field-section.metadata.title'),
        type: 'textarea',
        rows: 5,
        hint: t('console.preset.saml.metadata-hint'),
      },
      { ...name, hint: t('console.preset.saml.name-hint'), required: false },
      { name: 'entity_id', label: t('console.tabs.value.entity-id') },
      { name: 'acs_url', label: t('console.preset.saml.acs-url') },
      {
        name: 'attributes',
        label: t('console.field-section.attributes.title'),
        type: 'textarea',
        rows: 6,
        value: 'email = email\ngivenName = given_name\nsurname = family_name\ndisplayName = name\nroles = roles',
        hint: t('console.preset.saml.attributes-hint'),
      },
    ],
    toDeclaration: ({ name: title = '', metadata_url, metadata, entity_id, acs_url, attributes = '' }) => ({
      name: title,
      ...(metadata_url && { metadata_url }),
      ...(metadata && { metadata }),
      ...(entity_id && { entity_id }),
      ...(acs_url && { acs_url }),
      attributes: parseNameValueLines(attributes),
      idp_initiated: true,
    }),
  },
];

/** The product whose guide an application has: the one that it names; without one, the one whose name its own begins with. */
export function productOf(application: Application): ProductPreset | undefined {
  const { protocol, metadata, name: title } = application;
  const ofProtocol = productPresets().filter((preset) => preset.protocol === protocol);
  return metadata.preset === undefined
    ? ofProtocol.find((preset) => title.startsWith(preset.title))
    : ofProtocol.find((preset) => preset.id === metadata.preset);
}

/** The preset with this id. */
export function presetOf(id: string): Preset | undefined {
  return [...genericPresets, ...productPresets()].find((preset) => preset.id === id);
}

/** The groups that the declaration names in its access rule, and those that its product reads. */
export function groupsOf({ preset, access }: Declaration): { name: string; description?: string }[] {
  const read = productPresets().find(({ id }) => id === preset)?.groups ?? [];
  const named = (typeof access === 'object' && (access as { groups?: string[] }).groups) || [];
  return [
    ...read.map(({ name, description }) => ({ name, description: String(description) })),
    ...named.filter((name) => !read.some((one) => one.name === name)).map((name) => ({ name })),
  ];
}

/** The answers as a form with lists sends them. */
const asLists = (answers: Answers) =>
  Object.fromEntries(Object.entries(answers).map(([name, value]) => [name, [value]]));

function codeFlow(answers: Answers): Declaration {
  const after = lines(answers.post_logout_redirect_uris);
  return {
    client_name: answers.name,
    redirect_uris: lines(answers.redirect_uris),
    ...(after.length > 0 && { post_logout_redirect_uris: after }),
    ...(answers.client_uri && { client_uri: answers.client_uri }),
  };
}
