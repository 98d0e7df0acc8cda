// /admin/users/new and …/:id/edit: the profile and the roles of a user as a form.

import type Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { forbidden } from '../../base/http/errors.ts';
import { readForm } from '../../base/http/input.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import {
  addressColumn,
  addressPartNames,
  type ProfileText,
  profileOfTexts,
  textClaims,
  textsOf,
} from '../../people/accounts/profile-fields.ts';
import { within } from '../../people/rbac/rights.ts';
import { etagOf } from '../api/versions.ts';
import { type Field, versionField } from '../console/blocks.ts';
import { addPage, type FormReader } from '../console/pages.ts';
import { isRowButton, type Sent, toSent } from '../console/row-buttons.ts';
import { inSections, type SectionRule } from '../console/sections.ts';
import { readTypedForm } from '../console/typed-form.ts';
import type { ConsoleServices } from '../console-services.ts';
import type { UserDetails } from './actions.ts';
import { invitedNotice } from './console-actions.ts';
import { oneTimePasswordPage } from './console-password.ts';
import { attributeSection, sentAttributes } from './form/attribute-fields.ts';
import { profileFields } from './form/profile-fields.ts';
import { versionOf } from './lookup.ts';

const WRITE = 'gatehouse.users:write' as const;
const text = z.string().trim().max(254).default('');
const long = z.string().trim().max(2000).optional();
const flag = z.literal('on').optional();
const texts = Object.fromEntries([...textClaims, ...addressPartNames.map(addressColumn)].map((name) => [name, long]));
const userForm = z.object({
  ...(texts as Record<ProfileText, typeof long>),
  username: text,
  email: text,
  email_verified: flag,
  phone_number: long,
  begin: z.enum(['invite', 'password']).default('password'),
  roles: z.array(z.string().max(100)).default([]),
  version: z.string().max(100).default(''),
});
type UserForm = z.output<typeof userForm>;

const SECTIONS: readonly SectionRule[] = [
  {
    title: t('console.users.form.account'),
    names: ['username', 'email', 'email_verified', 'name', 'given_name', 'family_name'],
  },
  { title: t('console.users.form.first-sign-in'), names: ['begin'] },
  { title: t('console.users.roles'), names: ['roles'] },
  { title: t('console.users.form.profile'), names: 'rest', isAdvanced: true },
  { title: t('console.users.form.address'), names: addressPartNames.map(addressColumn), isAdvanced: true },
];

/** The pages …/new and …/:id/edit. */
export function userFormPages(router: Router<State, Extras>, services: ConsoleServices): void {
  newUserPages(router, services);
  editUserPages(router, services);
}

function newUserPages(router: Router<State, Extras>, services: ConsoleServices): void {
  const {
    frame,
    admin: { users },
    attributeSchema,
  } = services;
  addPage(router, frame, '/new', {
    needs: [within(WRITE)],
    form: readUserForm,
    async page({ ctx, by }, given) {
      const { values, sent } = given ?? {};
      const fields = [...(await fieldsFor(services, ctx, by, values)), firstSignIn(values, services)];
      return {
        title: t('console.users.add'),
        lead: t('console.users.form.add.lead'),
        back: { href: '/admin/users', label: t('console.navigation.users') },
        blocks: [
          {
            kind: 'form',
            action: '/admin/users/new',
            fields: [],
            sections: [...inSections(fields, SECTIONS), attributeSection(await attributeSchema(), {}, sent)],
            button: t('console.users.add'),
            cancel: '/admin/users',
          },
        ],
      };
    },
    async submit({ by }, { values, sent }) {
      const attributes = sentAttributes(await attributeSchema(), {}, sent);
      const { username, roles, begin } = values;
      const profile = { ...profileOf(values), ...(attributes && { attributes }), username, roles };
      const { account, oneTimePassword } = await users.create({ ...profile, invite: begin === 'invite' }, by);
      if (oneTimePassword) return { result: oneTimePasswordPage(services, account, oneTimePassword) };
      const { text, tone, link } = invitedNotice(services.config.hasMailServer, account.id);
      return { to: `/admin/users/${account.id}`, notice: text, tone, link };
    },
  });
}

function editUserPages(router: Router<State, Extras>, services: ConsoleServices): void {
  const {
    frame,
    admin: { users, roles },
    attributeSchema,
  } = services;
  addPage(router, frame, '/:id/edit', {
    needs: [within(WRITE)],
    async load({ params: { id = '' } }, by) {
      const account = await users.find(id, by, WRITE);
      if (account.source === 'file') throw forbidden('owned_by_file');
      return account;
    },
    assertOpen: ({ by, subject }) => users.assertMayChange(subject, by, WRITE),
    form: readUserForm,
    async page({ ctx, by, subject: account }, form) {
      const { values, sent } = form ?? {};
      const ssoConnection = (await users.connectionsOf([account])).get(account.id) ?? null;
      const given = values ?? valuesOf({ account, ssoConnection });
      const attributes = attributeSection(await attributeSchema(), account.attributes, sent);
      const at = `/admin/users/${account.id}`;
      return {
        title: t('console.users.form.edit.title', { user: account.name ?? account.username }),
        lead: t('console.users.form.edit.lead'),
        back: { href: at, label: account.name ?? account.username },
        blocks: [
          {
            kind: 'form',
            action: `${at}/edit`,
            fields: [versionField(given.version)],
            sections: [...inSections(await fieldsFor(services, ctx, by, given), SECTIONS), attributes],
            button: t('console.shared.save-changes'),
            cancel: at,
          },
        ],
      };
    },
    async submit({ by, subject: account }, { values, sent }) {
      const offered = await roles.assignable(by);
      // Those of the user that the form did not offer stay.
      const held = [...values.roles, ...account.roles.filter((name) => !offered.includes(name))];
      const attributes = sentAttributes(await attributeSchema(), account.attributes, sent);
      const profile = { ...profileOf(values), ...(attributes && { attributes }), username: values.username };
      await users.update(account.id, { ...profile, roles: held }, by, values.version);
      return { to: `/admin/users/${account.id}`, notice: t('console.users.form.saved') };
    },
  });
}

/** The form, and the fields of attributes as they were sent. */
const readUserForm: FormReader<{ values: UserForm; sent: Sent }> = async (ctx) => {
  const sent = toSent(await readForm(ctx, { lists: 'every field' }));
  const lists = ['roles', ...Object.keys(sent).filter((name) => name.startsWith('attributes.'))];
  const { given: values, check } = await readTypedForm(ctx, userForm, { lists });
  return { given: { values, sent }, check, isRowButton: isRowButton(sent) };
};

async function fieldsFor(
  { admin: { roles } }: ConsoleServices,
  ctx: Context,
  by: Actor,
  given?: UserForm,
): Promise<Field[]> {
  const names = await roles.choices(by);
  return [
    {
      name: 'username',
      label: t('console.users.username'),
      value: given?.username ?? '',
      required: true,
      isHalf: true,
    },
    { name: 'email', label: t('console.shared.email'), type: 'email', value: given?.email ?? '', isHalf: true },
    {
      name: 'email_verified',
      label: t('console.users.form.email-verified'),
      hint: t('console.users.form.email-verified-hint'),
      type: 'checkbox',
      checked: given?.email_verified === 'on',
    },
    ...profileFields(given ?? {}, ctx.state.offeredLanguages().tags),
    ...(names.length > 0
      ? [
          {
            name: 'roles',
            label: t('console.users.form.roles'),
            type: 'checks' as const,
            values: given?.roles ?? [],
            options: names,
          },
        ]
      : []),
  ];
}

function firstSignIn(given: UserForm | undefined, { config: { hasMailServer } }: ConsoleServices): Field {
  const invite = t(`console.users.form.begin.${hasMailServer ? 'invite' : 'invite-file'}`);
  return {
    name: 'begin',
    label: t('console.users.form.begin'),
    type: 'select',
    value: given?.begin ?? (hasMailServer ? 'invite' : 'password'),
    ...(!hasMailServer && { hint: t('console.users.form.begin.no-mail') }),
    options: [
      { value: 'invite', label: invite },
      { value: 'password', label: t('console.users.form.begin.password') },
    ],
  };
}

function profileOf(given: UserForm) {
  const { email, email_verified, phone_number: phoneNumber } = given;
  return {
    ...profileOfTexts(given),
    ...(phoneNumber !== undefined && { phoneNumber: phoneNumber || null }),
    email: email || null,
    emailVerified: email !== '' && email_verified === 'on',
  };
}

function valuesOf({ account, ssoConnection }: Pick<UserDetails, 'account' | 'ssoConnection'>): UserForm {
  return {
    username: account.username,
    email: account.email ?? '',
    ...textsOf(account),
    phone_number: account.phoneNumber ?? '',
    ...(account.emailVerified && { email_verified: 'on' as const }),
    begin: 'password',
    roles: account.roles,
    version: etagOf(versionOf(account, ssoConnection)),
  };
}
