// What "New application" offers: kinds, and products by name with the addresses and attribute names of their own documentation
// (read 2026-11). Each asks only for what it needs and says how to set up the other side.
import type { Application } from '../../../applications/application.ts';
import type { Field } from '../../console/blocks.ts';
import { lines, parseNameValueLines } from '../../console/text-area.ts';
import { profileKey, profileOptions, publicKeys } from '../form/profile.ts';
import { mattermost, rocketChat, zammad, zoom, zulip } from './communication.ts';
import { argoCd, forgejo, gitea, gitHubEnterprise, jenkins } from './development.ts';
import { homeAssistant, immich, jellyfin, paperless } from './home.ts';
import { harbor, kubernetes, minio, portainer, proxmox, vault } from './infrastructure.ts';
import { cloudflareAccess, oauth2Proxy, tailscale } from './networks.ts';
import { atlassian, dropbox, microsoft365, moodle } from './office.ts';
import { gitlab, grafana, nextcloud, wordpress } from './oidc.ts';
import type { Answers, Declaration, Preset, ProductPreset } from './parts.ts';
import { aws, googleWorkspace, salesforce, slack } from './saml.ts';

const name: Field = { name: 'name', label: 'Name', hint: 'The name that people see.', required: true };
const redirectUris: Field = {
  name: 'redirect_uris',
  label: 'Redirect URIs',
  type: 'textarea',
  rows: 3,
  required: true,
  hint: 'Where people return after they sign in, one per line. The application’s documentation calls it callback or redirect URL.',
};
const afterLogout: Field = {
  name: 'post_logout_redirect_uris',
  label: 'Post-logout redirect URIs',
  type: 'textarea',
  rows: 2,
  hint: 'Where people go after they sign out, one per line. Optional.',
};

const homePage: Field = {
  name: 'client_uri',
  label: 'Home page',
  hint: 'Opens from the app list. Without it, the application isn’t in the list.',
};

const genericPresets: readonly Preset[] = [
  {
    id: 'web',
    title: 'Web application',
    icon: 'globe',
    text: 'Runs on a server that can keep a secret. OpenID Connect.',
    protocol: 'oidc',
    fields: [name, redirectUris, afterLogout, homePage],
    toDeclaration: (answers) => ({ ...codeFlow(answers), grant_types: ['authorization_code', 'refresh_token'] }),
  },
  {
    id: 'fapi2',
    title: 'High security (FAPI 2)',
    icon: 'landmark',
    text: 'For banking and health care: its own signing key, pushed requests, and bound tokens.',
    protocol: 'oidc',
    fields: [
      name,
      {
        ...redirectUris,
        hint: 'https addresses, one per line. The application’s documentation calls them callback or redirect URL.',
      },
      ...profileKey.fields({ profile: 'fapi2' }).map((field) => ({ ...field, options: profileOptions })),
      ...publicKeys.flatMap((key) => key.fields({})),
    ],
    toDeclaration: (answers) => ({
      ...codeFlow(answers),
      grant_types: ['authorization_code', 'refresh_token'],
      ...Object.fromEntries([profileKey, ...publicKeys].map((key) => [key.key, key.read(one(answers))])),
    }),
  },
  {
    id: 'spa',
    title: 'Single-page app',
    icon: 'app-window',
    text: 'Runs in the browser, without a secret. OpenID Connect.',
    protocol: 'oidc',
    fields: [name, redirectUris, afterLogout, homePage],
    toDeclaration: (answers) => ({ ...codeFlow(answers), token_endpoint_auth_method: 'none' }),
  },
  {
    id: 'native',
    title: 'Native app',
    icon: 'smartphone',
    text: 'On a phone or a desktop, without a secret. OpenID Connect.',
    protocol: 'oidc',
    fields: [
      name,
      {
        ...redirectUris,
        hint: 'Such as com.example.app:/callback, or http://127.0.0.1/callback on any port. One per line.',
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
    title: 'Service',
    icon: 'bot',
    text: 'A program that calls an API without a user.',
    protocol: 'oidc',
    fields: [
      name,
      {
        name: 'resources',
        label: 'APIs',
        type: 'textarea',
        rows: 2,
        hint: 'Identifiers of the APIs it may call, one per line. Leave empty for none.',
      },
      {
        name: 'scope',
        label: 'Scopes',
        hint: 'With one space between them. The scopes of those APIs that it may get. Leave empty for none.',
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
    id: 'saml',
    title: 'SAML application',
    icon: 'file-badge',
    text: 'A service provider, from its metadata or entered by hand.',
    protocol: 'saml',
    fields: [
      name,
      {
        name: 'metadata_url',
        label: 'Metadata URL',
        hint: 'Gatehouse reads it every day. If there is no URL, paste the metadata below.',
      },
      {
        name: 'metadata',
        label: 'Metadata',
        type: 'textarea',
        rows: 5,
        hint: 'The XML. If there is no metadata, enter the two values below.',
      },
      { name: 'entity_id', label: 'Entity ID' },
      { name: 'acs_url', label: 'Assertion consumer service (ACS) URL' },
      {
        name: 'attributes',
        label: 'Attributes',
        type: 'textarea',
        rows: 4,
        value: 'email = email\ndisplayName = name\nroles = roles',
        hint: 'SAML name = user field, one per line.',
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

export const productPresets: readonly ProductPreset[] = [
  ...[grafana, gitlab, gitea, forgejo, jenkins, argoCd, gitHubEnterprise],
  ...[kubernetes, proxmox, portainer, harbor, vault, minio, oauth2Proxy, tailscale, cloudflareAccess],
  ...[immich, jellyfin, paperless, homeAssistant],
  ...[slack, mattermost, rocketChat, zulip, zoom, zammad],
  ...[nextcloud, wordpress, googleWorkspace, salesforce, aws, microsoft365, moodle, atlassian, dropbox],
];

export { genericPresets };

/** The product whose guide an application has: the one that it names; without one, the one whose name its own begins with. */
export function productOf(application: Application): ProductPreset | undefined {
  const { protocol, metadata, name: title } = application;
  const ofProtocol = productPresets.filter((preset) => preset.protocol === protocol);
  return metadata.preset === undefined
    ? ofProtocol.find((preset) => title.startsWith(preset.title))
    : ofProtocol.find((preset) => preset.id === metadata.preset);
}

/** The preset with this id. */
export function presetOf(id: string): Preset | undefined {
  return [...genericPresets, ...productPresets].find((preset) => preset.id === id);
}

/** The answers as a form with lists sends them. */
const one = (answers: Answers) => Object.fromEntries(Object.entries(answers).map(([name, value]) => [name, [value]]));

function codeFlow(answers: Answers): Declaration {
  const after = lines(answers.post_logout_redirect_uris);
  return {
    client_name: answers.name,
    redirect_uris: lines(answers.redirect_uris),
    ...(after.length > 0 && { post_logout_redirect_uris: after }),
    ...(answers.client_uri && { client_uri: answers.client_uri }),
  };
}
