// The keys of an application with a form of their own: what their schemas allow is more than a text, a number, a choice or a list of texts.

import { claimSources, type OwnClaims } from '../../../applications/fields/claim-settings.ts';
import { headerSets, type PathRule } from '../../../applications/fields/proxied-application.ts';
import { invalidInput } from '../../../base/http/errors.ts';
import { present } from '../../../base/platform/defined.ts';
import { fault } from '../../../base/texts/faults.ts';
import { type PageText, t, textAt } from '../../../base/texts/text.ts';
import { userFieldNames } from '../../../people/accounts/claims.ts';
import type { Field, Option } from '../../console/blocks.ts';
import {
  assertDistinct,
  baseOf,
  choiceKey,
  type FieldSource,
  type FormKey,
  fieldKey,
  groupKey,
  mapKey,
  nonEmpty,
  rowsKey,
  type Values,
} from '../../console/form-fields.ts';
import { type Sent, sentValue } from '../../console/row-buttons.ts';
import type { Opening } from '../people.ts';

/** What an administrator may choose from. */
export interface Choices {
  /** Names of roles. */
  roles: readonly string[];
  /** Names of groups. */
  groups?: readonly string[];
  /** What the form can create. */
  creates?: readonly Opening['kind'][];
  /** Name of a role -> its description. */
  roleHints?: ReadonlyMap<string, PageText | undefined>;
  connections: readonly { id: string; name: string }[];
  /** Identifiers of APIs. */
  apis: readonly string[];
  /** The setting `signing_algorithms`. */
  signingAlgs: readonly string[];
  /** Names of own fields of users. */
  ownFields?: readonly string[];
}

export const NO_CHOICES: Choices = { roles: [], connections: [], apis: [], signingAlgs: [] };

/** The suggestions where a user field is typed. */
const userFields = ({ ownFields = [] }: Choices) => [
  ...userFieldNames,
  ...ownFields.map((name) => `attributes.${name}`),
];
const choice = (value: string, label: PageText, hint?: PageText): Option => ({ value, label, ...(hint && { hint }) });

/** How a service provider is known: the field that the three groups of its keys belong to. */
export const METADATA_SOURCE = 'metadata_source';

/** The choice itself is no key: it says which keys are sent. */
export const sourceChoice: FormKey = {
  key: METADATA_SOURCE,
  fields: (values) => [
    {
      name: METADATA_SOURCE,
      label: t('console.fields.metadata-source.label'),
      type: 'radios',
      value: sourceOf(values),
      hint: t('console.fields.metadata-source.hint'),
      options: (['url', 'paste', 'hand'] as const).map((source) =>
        choice(
          source,
          t(`console.fields.metadata-source.${source}`),
          t(`console.fields.metadata-source.${source}-hint`),
        ),
      ),
    },
  ],
  read: () => undefined,
};

function sourceOf({ metadata_url, metadata }: Values): 'url' | 'paste' | 'hand' {
  if (metadata_url !== undefined) return 'url';
  return metadata === undefined ? 'hand' : 'paste';
}

type Acs = string | { url: string; index?: number; default?: boolean };
type Slo = { url: string; binding?: string; response_url?: string };
type Certificate = string | { use?: string; pem: string };

const isWhole = (text: string) => /^-?\d{1,9}$/.test(text);

/** Hours that the form offers; another value that is set stays as an option. */
const HOURS = [1, 4, 8, 12, 24, 168];

/** Names in one input; no name has a comma. */
const namesOf = (text: string) =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);

/**
 * Who may open a path, from its row in the form: the people with these roles and groups where `kind` is `named`; else the kind itself.
 * Throws invalid_input where `named` has no names, and where another kind has some, which would be lost.
 *
 * @param row its position, for the fault
 */
function ruleOf(row: number, kind: string, { roles, groups }: { roles: string[]; groups: string[] }): unknown {
  const wrong = (column: 'roles' | 'groups', code: 'empty' | 'names-without-rule') =>
    invalidInput([fault(['paths', row, 'rule', column], code)]);
  if (kind === 'named') {
    if (roles.length + groups.length === 0) throw wrong('roles', 'empty');
    return { roles, groups };
  }
  if (roles.length > 0) throw wrong('roles', 'names-without-rule');
  if (groups.length > 0) throw wrong('groups', 'names-without-rule');
  return kind;
}

/** The fields in which a new role or group is named, in the form of an access rule. */
const NEW_NAMES = { role: 'access.new_role', group: 'access.new_group' } as const;

/** The role and the group that the form of an access rule names as new. */
export function openingsToCreate(sent: Sent): Opening[] {
  if (sentValue(sent, 'access') !== 'roles') return [];
  return (['role', 'group'] as const).flatMap((kind) => {
    const name = sentValue(sent, NEW_NAMES[kind]);
    return name ? [{ kind, name, isNew: true }] : [];
  });
}

/** The settings of the provisioning, of which the address and the token have no default. */
function provisionKeys(source: FieldSource, suggestions: readonly string[]): FormKey[] {
  const setting = (name: string, about: Partial<Field>) =>
    fieldKey({
      name: `provision.${name}`,
      label: textAt(`console.provisioning.field.${name}`) ?? name,
      hint: textAt(`console.provisioning.field.${name}.hint`),
      ...about,
    });
  /** One of these values; nothing is stored for the first one, which is the default. */
  const choiceOf = (name: string, [standard = '', ...others]: readonly string[]) => {
    const option = (value: string, stored: string) =>
      choice(stored, textAt(`console.provisioning.field.${name}.${value}`) ?? value);
    const options = [option(standard, ''), ...others.map((value) => option(value, value))];
    return setting(name, { type: 'select', isHalf: true, options });
  };
  return [
    setting('url', { isCode: true }),
    setting('token', { type: 'password', autocomplete: 'off' }),
    choiceOf('dialect', ['standard', 'entra']),
    choiceOf('user_name', ['username', 'email']),
    choiceOf('adopt', ['never', 'user_name']),
    choiceOf('delete_policy', ['deactivate', 'delete']),
    setting('max_leavers_percent', { type: 'number', range: { minimum: 1, maximum: 100 }, unit: '%' }),
    setting('groups', { type: 'checkbox' }),
    mapKey({ ...source, name: 'provision.attributes' }, [
      { name: 'name', label: t('console.provisioning.field.attributes.path') },
      { name: 'field', label: t('console.shared.value'), suggestions },
    ]),
  ];
}

export const ownKeys: Readonly<Record<string, (source: FieldSource, choices: Choices) => FormKey>> = {
  /** Everyone, or the users of some roles: `access` with `access.roles`. */
  access: (source, { roles, roleHints, groups = [], creates = [] }) => ({
    key: 'access',
    fields({ access = 'everyone' }) {
      const { roles: named = [], groups: namedGroups = [] } =
        access === 'everyone' ? {} : (access as { roles: string[]; groups?: string[] });
      const allGroups = [...new Set([...namedGroups, ...groups])];
      const byName = (one: string, other: string) => one.localeCompare(other, 'en');
      // The chosen ones first: the list scrolls.
      const others = roles.filter((role) => !named.includes(role));
      const names = [...new Set([...[...named].sort(byName), ...others.sort(byName)])];
      return present([
        {
          ...baseOf(source),
          type: 'radios',
          value: access === 'everyone' ? 'everyone' : 'roles',
          options: [
            choice('everyone', t('console.fields.access.everyone'), t('console.fields.access.everyone-hint')),
            choice('roles', t('console.fields.access.selected'), t('console.fields.access.selected-hint')),
          ],
        },
        {
          name: 'access.roles',
          label: t('console.fields.access-roles.label'),
          type: 'checks',
          values: named,
          options: names.map((role) => ({ value: role, label: role, hint: roleHints?.get(role) })),
          hint: t('console.fields.access-roles.hint'),
        },
        allGroups.length > 0 && {
          name: 'access.groups',
          label: t('console.fields.access-groups.label'),
          type: 'checks',
          values: namedGroups,
          options: allGroups.map((group) => ({ value: group, label: group })),
          hint: t('console.fields.access-groups.hint'),
        },
        ...creates.map((kind) => ({
          name: NEW_NAMES[kind],
          label: t(`console.people.new-${kind}`),
          value: '',
          isHalf: true,
          hint: t('console.fields.access-new.hint'),
        })),
      ]);
    },
    read(sent) {
      if (sentValue(sent, 'access') !== 'roles') return 'everyone';
      const added = (kind: Opening['kind']) =>
        openingsToCreate(sent).flatMap((one) => (one.kind === kind ? [one.name] : []));
      const named = [...(sent['access.roles'] ?? []), ...added('role')];
      const groups = [...(sent['access.groups'] ?? []), ...added('group')];
      if (groups.length > 0) return { roles: named, groups };
      if (named.length > 0) return { roles: named };
      throw invalidInput([fault(['access', 'roles'], 'empty')]);
    },
  }),

  /** The connections that are accepted: `connections` with `connections.ids`. */
  connections: (source, choices) => ({
    key: 'connections',
    fields({ connections = 'all' }) {
      const set = connections === 'all' ? [] : (connections as string[]);
      const unknown = set.filter((id) => !choices.connections.some((one) => one.id === id));
      return [
        {
          ...baseOf(source),
          type: 'radios',
          value: connections === 'all' ? 'all' : 'some',
          options: [
            choice('all', t('console.fields.sources.all'), t('console.fields.sources.all-hint')),
            choice('some', t('console.fields.sources.selected'), t('console.fields.sources.selected-hint')),
          ],
        },
        {
          name: 'connections.ids',
          label: t('console.fields.sources.selected'),
          type: 'checks',
          values: set,
          options: [
            ...choices.connections.map(({ id, name }) => choice(id, name)),
            ...unknown.map((id) => choice(id, id)),
          ],
          hint: t('console.fields.sources.ids-hint'),
        },
      ];
    },
    read: (sent) => (sentValue(sent, 'connections') === 'some' ? (sent['connections.ids'] ?? []) : undefined),
  }),

  /** A row each: name, user field, and the scope that the claim belongs to. */
  claims: (source, choices) =>
    rowsKey(source, {
      columns: [
        { name: 'name', label: t('console.fields.own-claims.claim') },
        { name: 'field', label: t('console.shared.value'), suggestions: userFields(choices) },
        { name: 'scope', label: t('console.fields.own-claims.scope') },
      ],
      toLines: (value) => claimSources(value as OwnClaims).map(({ claim, field, scope = '' }) => [claim, field, scope]),
      fromLines(lines) {
        assertDistinct('claims', lines);
        if (lines.length === 0) return undefined;
        return Object.fromEntries(lines.map(([claim, field, scope]) => [claim, scope ? { field, scope } : field]));
      },
    }),

  attributes: (source, choices) =>
    mapKey(source, [
      { name: 'name', label: t('console.fields.attributes.attribute') },
      { name: 'field', label: t('console.shared.value'), suggestions: userFields(choices) },
    ]),

  roles_rename: (source) =>
    mapKey(source, [
      { name: 'role', label: t('console.fields.roles-rename.role') },
      { name: 'name', label: t('console.fields.roles-rename.name') },
    ]),

  id_jag_clients: (source) =>
    mapKey(source, [
      { name: 'issuer', label: t('console.connection-field.issuer.label') },
      { name: 'client', label: t('console.connection-field.client_id.label') },
    ]),

  /** Without an address, nobody is written to the application, and the other settings are dropped. */
  provision(source, choices) {
    const group = groupKey(source.name, provisionKeys(source, userFields(choices)));
    return {
      ...group,
      read(sent) {
        const { url, groups, ...others } = (group.read(sent) ?? {}) as Values;
        return url === undefined ? undefined : { url, ...others, ...(groups === true && { groups }) };
      },
    };
  },

  /** Those of a well-known server, or `own` with the rows `headers.own`. */
  headers: (source, choices) => {
    const own = mapKey({ ...source, name: 'headers.own' }, [
      { name: 'name', label: t('console.fields.website-headers.header') },
      { name: 'field', label: t('console.shared.value'), suggestions: userFields(choices) },
    ]);
    const offered = [...Object.keys(headerSets), 'own'].map((set) =>
      choice(set, textAt(`console.field.headers.${set}`) ?? set),
    );
    const set = choiceKey(source, offered, 'remote');
    return {
      key: 'headers',
      fields({ headers = 'remote' }) {
        const isOwn = typeof headers === 'object';
        return [
          ...set.fields({ headers: isOwn ? 'own' : headers }),
          ...own.fields({ 'headers.own': isOwn ? headers : undefined }),
        ];
      },
      read: (sent) => (sentValue(sent, 'headers') === 'own' ? (own.read(sent) ?? {}) : set.read(sent)),
    };
  },

  /** A row each: path, who may open it, the roles and groups of that, and the methods. */
  paths: (source, { roles, groups = [] }) =>
    rowsKey(source, {
      columns: [
        { name: 'path', label: t('console.fields.website-paths.path') },
        {
          name: 'rule',
          label: t('console.fields.website-paths.rule'),
          type: 'select',
          options: (['named', 'mfa', 'public'] as const).map((kind) =>
            choice(kind, t(`console.fields.website-paths.${kind}`)),
          ),
        },
        { name: 'rule.roles', label: t('console.fields.website-paths.roles'), suggestions: roles },
        { name: 'rule.groups', label: t('console.fields.website-paths.groups'), suggestions: groups },
        { name: 'methods', label: t('console.fields.website-paths.methods') },
      ],
      toLines: (value) =>
        (value as PathRule[]).map(({ path, methods = [], rule }) => [
          path,
          ...(typeof rule === 'string' ? [rule, '', ''] : ['named', rule.roles.join(', '), rule.groups.join(', ')]),
          methods.join(', '),
        ]),
      fromLines: (lines) =>
        lines.map(([path = '', kind = '', ofRoles = '', ofGroups = '', typed = ''], row) => {
          const methods = typed.toUpperCase().match(/[^\s,]+/g);
          const rule = ruleOf(row, kind, { roles: namesOf(ofRoles), groups: namesOf(ofGroups) });
          return { path, ...(methods && { methods }), rule };
        }),
    }),

  session_not_on_or_after: (source) => ({
    key: source.name,
    fields({ session_not_on_or_after: value }) {
      const isOther = typeof value === 'number' && !HOURS.includes(value / 3600);
      const options = present([
        choice('', t('console.fields.session-end.default')),
        ...HOURS.map((hours) => choice(String(hours * 3600), t('console.fields.session-end.after', { hours }))),
        isOther && choice(String(value), t('console.fields.session-end.seconds', { count: value })),
        choice('none', t('console.fields.session-end.none')),
      ]);
      return choiceKey(source, options, '').fields({ [source.name]: value });
    },
    read(sent) {
      const value = sentValue(sent, source.name);
      return value && isWhole(value) ? Number(value) : value || undefined;
    },
  }),

  acs_url: (source) =>
    rowsKey(source, {
      columns: [
        { name: 'url', label: t('console.fields.url') },
        { name: 'index', label: t('console.fields.acs.index'), isNarrow: true },
        {
          name: 'default',
          label: t('console.fields.acs.default'),
          type: 'select',
          options: [choice('', '–'), choice('yes', t('console.fields.acs.default'))],
        },
      ],
      toLines: (value) =>
        [value as Acs | Acs[]].flat().map((one) => {
          if (typeof one === 'string') return [one, '', ''];
          return [one.url, one.index === undefined ? '' : String(one.index), one.default ? 'yes' : ''];
        }),
      fromLines: (lines) =>
        lines.map(([url = '', index = '', isDefault]) =>
          index === '' && !isDefault
            ? url
            : {
                url,
                ...(index !== '' && { index: isWhole(index) ? Number(index) : index }),
                ...(isDefault && { default: true }),
              },
        ),
    }),

  slo_url: (source) =>
    rowsKey(source, {
      columns: [
        { name: 'url', label: t('console.fields.url') },
        {
          name: 'binding',
          label: t('console.fields.slo.binding'),
          type: 'select',
          options: [
            choice('redirect', t('console.fields.slo.redirect')),
            choice('post', 'POST'),
            choice('soap', 'SOAP'),
          ],
        },
        { name: 'response_url', label: t('console.fields.slo.response-url') },
      ],
      toLines: (value) =>
        [value as Slo | Slo[]]
          .flat()
          .map(({ url, binding = 'redirect', response_url = '' }) => [url, binding, response_url]),
      fromLines: (lines) =>
        nonEmpty(
          lines.map(([url, binding, response_url]) => ({ url, binding, ...(response_url && { response_url }) })),
        ),
    }),

  certificates: (source) =>
    rowsKey(source, {
      columns: [
        { name: 'pem', label: t('console.fields.certificates.certificate'), type: 'textarea' },
        {
          name: 'use',
          label: t('console.fields.certificates.use'),
          type: 'select',
          options: [
            choice('', t('console.fields.both')),
            choice('signing', t('console.fields.certificates.signing')),
            choice('encryption', t('console.fields.encryption')),
          ],
        },
      ],
      toLines: (value) =>
        (value as Certificate[]).map((one) => (typeof one === 'string' ? [one, ''] : [one.pem, one.use ?? ''])),
      fromLines: (lines) =>
        nonEmpty(lines.map(([pem = '', use]) => ({ pem: pem.replace(/\r\n/g, '\n'), ...(use && { use }) }))),
    }),
};
