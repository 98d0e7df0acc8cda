// Every key of `service_providers` in the configuration file as fields of the console, by tab and section; how it is known is
// in saml-source-keys.ts, what both protocols have in shared-keys.ts.
import { sentValue } from '../../console/row-buttons.ts';
import { userFields } from './claims-key.ts';
import { choiceKey, listKey, mapKey, switchKey, textKey, urlKey } from './keys.ts';
import { filterSummary, sourceSummary } from './oidc-keys.ts';
import { samlSources } from './saml-source-keys.ts';
import type { KeySection } from './sections.ts';
import { accessKey, type Choices, consentKey, filterKeys, mfaKey, presetKey, sourceKeys } from './shared-keys.ts';

export const samlSettings: readonly KeySection[] = [
  {
    title: 'General',
    keys: [
      textKey(
        {
          key: 'name',
          label: 'Name',
          hint: 'People see it when they sign in and in their app list. Up to 255 characters.',
          isHalf: true,
        },
        { required: true },
      ),
      urlKey({
        key: 'start_url',
        label: 'Home page',
        hint: 'The app list opens this page, which must start the sign-in itself. Leave empty to start it at Gatehouse.',
        isHalf: true,
      }),
      urlKey({
        key: 'logo_uri',
        label: 'Logo URL',
        hint: 'A square picture for the app list and the sign-in page. Only https. Default: initials.',
        isHalf: true,
      }),
      presetKey('saml'),
      switchKey({
        key: 'idp_initiated',
        label: 'Show in app list without a home page',
        hint: 'Sign-ins can start at Gatehouse, without a request from the application. Off by default.',
      }),
      listKey(
        {
          key: 'contacts',
          label: 'Technical contacts',
          hint: 'Get an email before the signing certificate expires. Optional.',
        },
        'contact',
      ),
    ],
  },
  ...samlSources,
  {
    title: 'Signing and encryption',
    isAdvanced: true,
    summary: ({ sign = 'assertion', encrypt_assertion = 'auto' }) =>
      `Signs ${sign === 'both' ? 'both' : `the ${sign}`}, encrypts: ${encrypt_assertion}`,
    keys: [
      choiceKey(
        { key: 'sign', label: 'Signed', hint: 'RSA with SHA-256. Default: the assertion.', isHalf: true },
        {
          byDefault: 'assertion',
          options: [
            { value: 'assertion', label: 'The assertion' },
            { value: 'response', label: 'The response' },
            { value: 'both', label: 'Both' },
          ],
        },
      ),
      choiceKey(
        {
          key: 'encrypt_assertion',
          label: 'Encryption',
          hint: 'Of the assertion. Default: when the application has an encryption key.',
          isHalf: true,
        },
        {
          byDefault: 'auto',
          options: [
            { value: 'auto', label: 'When it has a key' },
            { value: 'always', label: 'Always' },
            { value: 'never', label: 'Never' },
          ],
        },
      ),
      {
        ...choiceKey(
          {
            key: 'require_signed_requests',
            label: 'Signed requests',
            hint: 'Whether requests without a signature are rejected. Default: as its metadata says.',
            isHalf: true,
          },
          {
            options: [
              { value: '', label: 'As its metadata says' },
              { value: 'true', label: 'Required' },
              { value: 'false', label: 'Not required' },
            ],
          },
        ),
        read: (sent) => ({ true: true, false: false })[sentValue(sent, 'require_signed_requests') ?? ''],
      },
      switchKey({
        key: 'allow_sha1',
        label: 'Accept SHA-1 signatures',
        hint: 'Only for software that supports nothing newer. Off by default.',
      }),
    ],
  },
];

export const samlAccess = (choices: Choices): KeySection[] => [
  { title: 'Who can sign in', keys: [accessKey(choices)] },
  { title: 'Sign-in requirements', keys: [mfaKey] },
  { title: 'Where people sign in', isAdvanced: true, summary: sourceSummary, keys: sourceKeys(choices) },
  { title: 'Consent', keys: [consentKey('implicit')] },
];

export const samlAttributes: readonly KeySection[] = [
  {
    title: 'NameID',
    lead: 'The identifier of the person in the assertion.',
    keys: [
      choiceKey(
        {
          key: 'name_id_format',
          label: 'Format',
          hint: 'Default: what the request asks for within the metadata, else persistent.',
        },
        {
          options: [
            { value: '', label: 'As requested' },
            { value: 'persistent', label: 'Persistent: random, always the same' },
            { value: 'transient', label: 'Transient: new at each sign-in' },
            { value: 'emailAddress', label: 'Email address, when it is verified' },
            { value: 'unspecified', label: 'Unspecified: the username' },
          ],
        },
      ),
      choiceKey(
        {
          key: 'name_id_field',
          label: 'Value',
          hint: 'For the formats persistent and unspecified, where the application has to know it in advance. Default: a random value, or the username.',
        },
        {
          options: [
            { value: '', label: 'As the format says' },
            { value: 'sub', label: 'User ID, which never changes' },
            { value: 'username', label: 'Username' },
            { value: 'email', label: 'Email address, when it is verified' },
          ],
        },
      ),
      switchKey({
        key: 'require_allow_create',
        label: 'Require AllowCreate for the first sign-in',
        hint: 'For persistent identifiers. Most software omits AllowCreate, so leave it off if in doubt. Off by default.',
      }),
    ],
  },
  {
    title: 'Attributes',
    lead: 'What the application learns about the person who signs in.',
    keys: [
      mapKey(
        {
          key: 'attributes',
          label: 'Attribute mapping',
          hint: 'The value is a field of the user, such as email or attributes.department.',
        },
        'attribute',
        [
          { name: 'name', label: 'SAML attribute' },
          { name: 'field', label: 'Value', suggestions: userFields },
        ],
      ),
    ],
  },
  { title: 'Roles and permissions', isAdvanced: true, summary: filterSummary, keys: filterKeys },
];
