// The keys that applications of both protocols have, with what there is to choose from.
import { badRequest } from '../../../http/errors.ts';
import type { Field } from '../../console/blocks.ts';
import { sentValue } from '../../console/row-buttons.ts';
import { productPresets } from '../presets/presets.ts';
import { choiceKey, type Key, listKey, mapKey, switchKey } from './keys.ts';

/** What an administrator may choose from. */
export interface Choices {
  /** Names of roles. */
  roles: readonly string[];
  /** Name of a role -> its description. */
  roleHints?: ReadonlyMap<string, string | undefined>;
  connections: readonly { id: string; name: string }[];
  /** Identifiers of APIs. */
  apis: readonly string[];
}

/** The product whose setup guide the tab displays. */
export const presetKey = (protocol: 'oidc' | 'saml'): Key =>
  choiceKey(
    {
      key: 'preset',
      label: 'Setup guide',
      hint: 'The product whose settings the tab Setup guide displays.',
      isHalf: true,
    },
    {
      options: [
        { value: '', label: 'By the name' },
        ...productPresets
          .filter((preset) => preset.protocol === protocol)
          .map(({ id, title }) => ({ value: id, label: title })),
      ],
    },
  );

/** Everyone, or the users of some roles: `access` with `access.roles`. */
export const accessKey = ({ roles, roleHints }: Choices): Key => ({
  key: 'access',
  fields({ access = 'everyone' }) {
    const named = access === 'everyone' ? [] : (access as { roles: string[] }).roles;
    const byName = (one: string, other: string) => one.localeCompare(other, 'en');
    // The chosen ones first: the list scrolls.
    const others = roles.filter((role) => !named.includes(role));
    const names = [...new Set([...[...named].sort(byName), ...others.sort(byName)])];
    return [
      {
        name: 'access',
        label: 'Access',
        type: 'radios',
        hint: 'Default: everyone.',
        value: access === 'everyone' ? 'everyone' : 'roles',
        options: [
          { value: 'everyone', label: 'Everyone', hint: 'All active users.' },
          { value: 'roles', label: 'Selected roles', hint: 'Users with at least one of them.' },
        ],
      },
      {
        name: 'access.roles',
        label: 'Roles',
        type: 'checks',
        values: named,
        options: names.map((role) => ({ value: role, label: role, hint: roleHints?.get(role) })),
        hint: 'Used when access is limited to selected roles.',
      },
    ];
  },
  read(sent) {
    if (sentValue(sent, 'access') !== 'roles') return 'everyone';
    const named = sent['access.roles'] ?? [];
    if (named.length > 0) return { roles: named };
    throw badRequest('invalid_input', { fields: [{ field: 'access.roles', message: 'must not be empty' }] });
  },
});

/** The value that is not the default of the protocol is the one that is written. */
export const consentKey = (byDefault: 'explicit' | 'implicit'): Key =>
  switchKey(
    {
      key: 'consent',
      label: 'Ask people before sharing their data',
      hint: `Turn it on for applications that other organizations run. ${byDefault === 'explicit' ? 'Products from the list begin with it off, other applications with it on.' : 'Off by default.'} Permissions in Gatehouse itself always need consent.`,
    },
    { on: 'explicit', off: 'implicit', isOn: (value = byDefault) => value === 'explicit' },
  );

export const mfaKey = choiceKey(
  { key: 'mfa', label: 'Two-step verification', hint: 'Replaces the setting of your organization.' },
  {
    asCards: true,
    options: [
      { value: '', label: 'Organization default', hint: 'As the settings require.' },
      { value: 'required', label: 'Required', hint: 'Password and a second step, or a passkey.' },
      { value: 'phishing-resistant', label: 'Phishing-resistant', hint: 'Passkey or security key only.' },
    ],
  },
);

/** The connections that are accepted: `connections` with `connections.ids`; and whether this server is. */
export const sourceKeys = (choices: Choices): Key[] => [
  {
    key: 'connections',
    fields({ connections = 'all' }) {
      const set = connections === 'all' ? [] : (connections as string[]);
      const unknown = set.filter((id) => !choices.connections.some((one) => one.id === id));
      const options = [...choices.connections, ...unknown.map((id) => ({ id, name: id }))];
      const ids: Field = {
        name: 'connections.ids',
        label: 'Selected connections',
        type: 'checks',
        values: set,
        options: options.map(({ id, name }) => ({ value: id, label: name })),
        hint: 'Used when sign-in is limited to selected connections.',
      };
      return [
        {
          name: 'connections',
          label: 'Connections',
          type: 'radios',
          hint: 'The identity providers whose users may sign in. Default: all.',
          value: connections === 'all' ? 'all' : 'some',
          options: [
            { value: 'all', label: 'All connections', hint: 'Every identity provider that is enabled.' },
            {
              value: 'some',
              label: 'Selected connections',
              hint: 'Users of other connections can’t open this application.',
            },
          ],
        },
        ids,
      ];
    },
    read: (sent) => (sentValue(sent, 'connections') === 'some' ? (sent['connections.ids'] ?? []) : undefined),
  },
  switchKey(
    {
      key: 'local_sign_in',
      label: 'Accept passwords and passkeys of this server',
      hint: 'Off: people sign in at a connection. On by default.',
    },
    { on: undefined, off: false, isOn: (value) => value !== false },
  ),
];

export const filterKeys: readonly Key[] = [
  listKey(
    {
      key: 'roles_filter',
      label: 'Roles it receives',
      hint: 'Names or patterns such as wiki-*. Leave empty to send all roles of the user.',
    },
    'role',
  ),
  mapKey(
    { key: 'roles_rename', label: 'Names of roles', hint: 'Roles that the application knows by another name.' },
    'name of a role',
    [
      { name: 'role', label: 'Role' },
      { name: 'name', label: 'Name at the application' },
    ],
  ),
  listKey(
    {
      key: 'permissions_filter',
      label: 'Permissions it receives',
      hint: 'Names or patterns such as articles:*. Leave empty to send all but those of Gatehouse.',
    },
    'permission',
  ),
];
