// Every key of `service_providers` in the configuration file as fields of the console, by tab and section; how it is known is
// in saml-source-keys.ts, what both protocols have in shared-keys.ts.

import { t } from '../../../base/texts/text.ts';
import { sentValue } from '../../console/row-buttons.ts';
import { userFields } from './claims-key.ts';
import { choiceKey, type Key, listKey, mapKey, switchKey, textKey, urlKey } from './keys.ts';
import { filterSummary, sourceSummary } from './oidc-keys.ts';
import { samlSources } from './saml-source-keys.ts';
import type { KeySection } from './sections.ts';
import {
  accessKey,
  type Choices,
  consentKey,
  filterKeys,
  mfaKey,
  networksKey,
  presetKey,
  sessionHoursKey,
  sourceKeys,
} from './shared-keys.ts';

/** Also on the form of a new application, once its metadata asks for it. */
export const cbcKey = switchKey({
  key: 'allow_cbc',
  label: t('console.fields.cbc.label'),
  hint: t('console.fields.cbc.hint'),
});

export const samlSettings: readonly KeySection[] = [
  {
    title: t('console.fields.general.title'),
    keys: [
      textKey(
        {
          key: 'name',
          label: t('console.shared.name'),
          hint: t('console.fields.name.hint'),
          isHalf: true,
        },
        { required: true },
      ),
      urlKey({
        key: 'start_url',
        label: t('console.fields.home-page.label'),
        hint: t('console.fields.start-url.hint'),
        isHalf: true,
      }),
      urlKey({
        key: 'logo_uri',
        label: t('console.fields.logo.label'),
        hint: t('console.fields.logo.hint'),
        isHalf: true,
      }),
      presetKey('saml'),
      switchKey({
        key: 'idp_initiated',
        label: t('console.fields.idp-initiated.label'),
        hint: t('console.fields.idp-initiated.hint'),
      }),
      listKey(
        {
          key: 'contacts',
          label: t('console.fields.contacts.label'),
          hint: t('console.fields.contacts.saml-hint'),
        },
        t('console.fields.contacts.adds'),
      ),
    ],
  },
  ...samlSources,
  {
    title: t('console.fields.saml-signing.title'),
    isAdvanced: true,
    summary: ({ sign = 'assertion', encrypt_assertion = 'auto' }) =>
      t('console.fields.saml-signing.summary', { sign: String(sign), encrypt: String(encrypt_assertion) }),
    keys: [
      choiceKey(
        { key: 'sign', label: t('console.fields.sign.label'), hint: t('console.fields.sign.hint'), isHalf: true },
        {
          byDefault: 'assertion',
          options: [
            { value: 'assertion', label: t('console.fields.sign.assertion') },
            { value: 'response', label: t('console.fields.sign.response') },
            { value: 'both', label: t('console.fields.both') },
          ],
        },
      ),
      choiceKey(
        {
          key: 'encrypt_assertion',
          label: t('console.fields.encryption'),
          hint: t('console.fields.encrypt.hint'),
          isHalf: true,
        },
        {
          byDefault: 'auto',
          options: [
            { value: 'auto', label: t('console.fields.encrypt.auto') },
            { value: 'always', label: t('console.fields.encrypt.always') },
            { value: 'never', label: t('console.fields.encrypt.never') },
          ],
        },
      ),
      {
        ...choiceKey(
          {
            key: 'require_signed_requests',
            label: t('console.fields.signed-requests.label'),
            hint: t('console.fields.signed-requests.hint'),
            isHalf: true,
          },
          {
            options: [
              { value: '', label: t('console.fields.signed-requests.default') },
              { value: 'true', label: t('console.fields.required') },
              { value: 'false', label: t('console.fields.signed-requests.not-required') },
            ],
          },
        ),
        read: (sent) => ({ true: true, false: false })[sentValue(sent, 'require_signed_requests') ?? ''],
      },
      cbcKey,
      switchKey({
        key: 'allow_sha1',
        label: t('console.fields.sha1.label'),
        hint: t('console.fields.sha1.hint'),
      }),
    ],
  },
];

/** Hours that the form offers; another value that is set stays as an option. */
const HOURS = [1, 4, 8, 12, 24, 168];
const sessionEnd = { key: 'session_not_on_or_after', label: t('console.fields.session-end.label') };

const sessionEndKey: Key = {
  key: sessionEnd.key,
  fields({ session_not_on_or_after: value }) {
    const isOther = typeof value === 'number' && !HOURS.includes(value / 3600);
    const field = choiceKey(
      { ...sessionEnd, hint: t('console.fields.session-end.hint') },
      {
        options: [
          { value: '', label: t('console.fields.session-end.default') },
          ...HOURS.map((hours) => ({
            value: String(hours * 3600),
            label: t('console.fields.session-end.after', { hours }),
          })),
          ...(isOther
            ? [{ value: String(value), label: t('console.fields.session-end.seconds', { count: value }) }]
            : []),
          { value: 'none', label: t('console.fields.session-end.none') },
        ],
      },
    );
    return field.fields({ [sessionEnd.key]: value });
  },
  read(sent) {
    const value = sentValue(sent, sessionEnd.key);
    return value && /^\d{1,9}$/.test(value) ? Number(value) : value || undefined;
  },
};

export const samlAccess = (choices: Choices): KeySection[] => [
  { title: t('console.fields.who.title'), keys: [accessKey(choices)] },
  {
    title: t('console.fields.requirements.title'),
    keys: [
      mfaKey,
      sessionHoursKey,
      networksKey,
      switchKey({
        key: 'ignore_requested_authn_context',
        label: t('console.fields.ignore-context.label'),
        hint: t('console.fields.ignore-context.hint'),
      }),
      sessionEndKey,
    ],
  },
  { title: t('console.fields.where.title'), isAdvanced: true, summary: sourceSummary, keys: sourceKeys(choices) },
  { title: t('console.fields.consent.title'), keys: [consentKey('implicit')] },
];

export const samlAttributes: readonly KeySection[] = [
  {
    title: t('console.fields.name-id.title'),
    lead: t('console.fields.name-id.lead'),
    keys: [
      choiceKey(
        {
          key: 'name_id_format',
          label: t('console.fields.name-id-format.label'),
          hint: t('console.fields.name-id-format.hint'),
        },
        {
          options: [
            { value: '', label: t('console.fields.name-id-format.requested') },
            { value: 'persistent', label: t('console.fields.name-id-format.persistent') },
            { value: 'transient', label: t('console.fields.name-id-format.transient') },
            { value: 'emailAddress', label: t('console.fields.name-id.email') },
            { value: 'unspecified', label: t('console.fields.name-id-format.unspecified') },
          ],
        },
      ),
      switchKey({
        key: 'force_name_id_format',
        label: t('console.fields.force-name-id.label'),
        hint: t('console.fields.force-name-id.hint'),
      }),
      choiceKey(
        {
          key: 'name_id_field',
          label: t('console.shared.value'),
          hint: t('console.fields.name-id-field.hint'),
        },
        {
          options: [
            { value: '', label: t('console.fields.name-id-field.default') },
            { value: 'sub', label: t('console.fields.name-id-field.sub') },
            { value: 'username', label: t('console.fields.name-id-field.username') },
            { value: 'email', label: t('console.fields.name-id.email') },
          ],
        },
      ),
      switchKey({
        key: 'require_allow_create',
        label: t('console.fields.allow-create.label'),
        hint: t('console.fields.allow-create.hint'),
      }),
    ],
  },
  {
    title: t('console.fields.attributes.title'),
    lead: t('console.fields.attributes.lead'),
    keys: [
      mapKey(
        {
          key: 'attributes',
          label: t('console.fields.attributes.label'),
          hint: t('console.fields.attributes.hint'),
        },
        t('console.fields.attributes.adds'),
        [
          { name: 'name', label: t('console.fields.attributes.attribute') },
          { name: 'field', label: t('console.shared.value'), suggestions: userFields },
        ],
      ),
    ],
  },
  { title: t('console.fields.roles.title'), isAdvanced: true, summary: filterSummary, keys: filterKeys },
];
