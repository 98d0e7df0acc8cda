// The edit form of an application: its fields, and the patch of the declaration that a sent form stands for.
import type { Application, OidcApplication, SamlApplication } from '../../../applications/application.ts';
import { etagOf } from '../../api/versions.ts';
import { type Field, versionField } from '../../console/blocks.ts';
import { lines, parseNameValueLines } from '../../console/text-area.ts';
import { applicationVersion } from '../manageable-applications.ts';
import type { Declaration } from '../saml-declarations.ts';
import { claimFields, claimsPatch } from './claims.ts';
import { keyFields, profileField, profilePatch } from './profile.ts';

export const editFields = (application: Application): Field[] => [
  versionField(etagOf(applicationVersion(application))),
  ...fieldsFor(application),
];

function fieldsFor(application: Application): Field[] {
  const name: Field = { name: 'name', label: 'Name', value: application.name, required: true };
  const consent: Field = {
    name: 'implicit',
    label: 'Do not ask users for consent',
    type: 'checkbox',
    checked: application.consent === 'implicit',
    hint: 'For your own applications. Users are still asked before an application gets rights in Gatehouse itself.',
  };
  const own = application.protocol === 'oidc' ? oidcFields(application) : samlFields(application);
  return [name, ...own, consent];
}

function oidcFields({ metadata }: OidcApplication): Field[] {
  const list = (field: string, label: string, values: readonly string[] = []): Field => ({
    name: field,
    label,
    type: 'textarea',
    rows: Math.max(2, values.length + 1),
    value: values.join('\n'),
  });
  return [
    list('redirect_uris', 'Redirect URIs', metadata.redirect_uris),
    list('post_logout_redirect_uris', 'Addresses after signing out', metadata.post_logout_redirect_uris),
    list('grant_types', 'Grants', metadata.grant_types),
    {
      name: 'scope',
      label: 'Scopes it may request',
      value: metadata.scope ?? '',
      hint: 'With one space between them. Empty: all of OpenID Connect, none of an API.',
    },
    list('resources', 'APIs that it may request tokens for', metadata.resources),
    ...claimFields(metadata),
    {
      name: 'all_users',
      label: 'May evaluate the access of users who never signed in to it',
      type: 'checkbox',
      checked: metadata.access_evaluation === 'all_users',
      hint: 'For a gateway or a batch job that calls access evaluation (AuthZEN).',
    },
    ...(metadata.token_endpoint_auth_method === 'none' ? [] : confidentialFields(metadata)),
    {
      name: 'backchannel_logout_uri',
      label: 'Back-channel logout address',
      value: metadata.backchannel_logout_uri ?? '',
    },
  ];
}

/** The fields of an application that can prove who it is. */
function confidentialFields(metadata: OidcApplication['metadata']): Field[] {
  const withoutPkce: Field = {
    name: 'without_pkce',
    label: 'Accept requests without PKCE',
    type: 'checkbox',
    checked: metadata.require_pkce === false,
    hint: 'Less secure. Only for software that can not send a PKCE challenge.',
  };
  return [profileField(metadata.profile), ...keyFields(metadata), ...(metadata.profile ? [] : [withoutPkce])];
}

function samlFields({ metadata }: SamlApplication): Field[] {
  const isByHand = metadata.metadata_url === undefined && metadata.metadata_xml === undefined;
  return [
    ...(metadata.metadata_url === undefined
      ? []
      : [{ name: 'metadata_url', label: 'Address of its metadata', value: metadata.metadata_url }]),
    ...(metadata.metadata_url === undefined && metadata.metadata_xml !== undefined
      ? [{ name: 'metadata', label: 'Its metadata', type: 'textarea' as const, rows: 8, value: metadata.metadata_xml }]
      : []),
    ...(isByHand
      ? [
          {
            name: 'acs_url',
            label: 'ACS URLs',
            type: 'textarea' as const,
            rows: 3,
            value: (metadata.acs ?? []).map(({ url }) => url).join('\n'),
          },
          {
            name: 'certificates',
            label: 'Certificates that it signs with',
            type: 'textarea' as const,
            rows: 6,
            value: signingOf(metadata).join('\n'),
            hint: 'In PEM form, one below the other.',
          },
        ]
      : []),
    {
      name: 'attributes',
      label: 'Attributes',
      type: 'textarea',
      rows: 5,
      value: Object.entries(metadata.attributes)
        .map(([attribute, field]) => `${attribute} = ${field}`)
        .join('\n'),
      hint: 'SAML name = user field, one a line.',
    },
    {
      name: 'require_allow_create',
      label: 'A first sign-in needs AllowCreate="true" in its request',
      type: 'checkbox',
      checked: metadata.require_allow_create,
      hint: 'For persistent identifiers. Most software omits AllowCreate or sends "false", so leave it off in doubt.',
    },
    {
      name: 'idp_initiated',
      label: 'May be opened from the portal',
      type: 'checkbox',
      checked: metadata.idp_initiated,
    },
  ];
}

type SamlMetadata = SamlApplication['metadata'];
type Certificates = NonNullable<SamlMetadata['certificates']>;

const isSigning = ({ use }: Certificates[number]) => use !== 'encryption';
const signingOf = ({ certificates = [] }: SamlMetadata) => certificates.filter(isSigning).map(({ pem }) => pem);

/** These certificates for signatures, beside the registered ones that are only for encryption. A declared use stays. */
function certificatesOf({ metadata: { certificates = [] } }: SamlApplication, text: string): Certificates {
  const signing = text
    .split(/(?<=-----END CERTIFICATE-----)/)
    .map((pem) => pem.trim())
    .filter(Boolean)
    .map(
      (pem) => certificates.find((known) => isSigning(known) && known.pem === pem) ?? { use: 'signing' as const, pem },
    );
  return [...signing, ...certificates.filter((known) => !isSigning(known))];
}

/** The access rule of a sent form. */
export function accessOf(given: Record<string, string>, roles: string[]): Application['access'] {
  return given.open === 'roles' ? { roles } : 'everyone';
}

/** JSON merge patch of the declaration. */
export function patchOf(application: Application, given: Record<string, string>, roles: string[]): Declaration {
  const common = {
    consent: given.implicit === 'on' ? 'implicit' : 'explicit',
    access: accessOf(given, roles),
  };
  const orNull = (value: string | undefined) => value || null;
  // An empty list would differ from the absent one, which means the same.
  const listOrNull = (value: string) => (lines(value).length > 0 ? lines(value) : null);
  if (application.protocol === 'oidc') {
    return {
      ...common,
      client_name: given.name,
      redirect_uris: lines(given.redirect_uris),
      post_logout_redirect_uris: lines(given.post_logout_redirect_uris),
      grant_types: lines(given.grant_types),
      scope: orNull(given.scope),
      ...(given.resources === undefined ? {} : { resources: listOrNull(given.resources) }),
      access_evaluation: given.all_users === 'on' ? 'all_users' : null,
      require_pkce: given.without_pkce === 'on' ? false : application.metadata.require_pkce || null,
      backchannel_logout_uri: orNull(given.backchannel_logout_uri),
      ...claimsPatch(given, application.metadata),
      ...profilePatch(given, application.metadata.profile),
    };
  }
  const before = application.metadata.attributes;
  const attributes = parseNameValueLines(given.attributes ?? '');
  const removed = Object.fromEntries(
    Object.keys(before)
      .filter((name) => !(name in attributes))
      .map((name) => [name, null]),
  );
  return {
    ...common,
    name: given.name,
    ...(given.metadata_url === undefined ? {} : { metadata_url: given.metadata_url }),
    ...(given.metadata === undefined ? {} : { metadata: given.metadata }),
    ...(given.acs_url === undefined ? {} : { acs_url: lines(given.acs_url) }),
    ...(given.certificates === undefined ? {} : { certificates: certificatesOf(application, given.certificates) }),
    attributes: { ...attributes, ...removed },
    require_allow_create: given.require_allow_create === 'on',
    idp_initiated: given.idp_initiated === 'on',
  };
}
