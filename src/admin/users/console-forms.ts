// /admin/users/new and …/:id/edit: the profile and the roles of a user as a form.
import type Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { forbidden } from '../../base/http/errors.ts';
import { readForm } from '../../base/http/input.ts';
import { t } from '../../base/texts/text.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { AttributeSchema } from '../../people/accounts/attributes.ts';
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
import { type ConsolePage, type Field, versionField } from '../console/blocks.ts';
import type { Frame } from '../console/frame.ts';
import { isRowButton, type Sent, toSent } from '../console/row-buttons.ts';
import { inSections, type SectionRule } from '../console/sections.ts';
import { readTypedForm } from '../console/typed-form.ts';
import type { RoleAdmin } from '../roles/roles.ts';
import type { UserAdmin, UserDetails } from './actions.ts';
import { invitedNotice } from './console-actions.ts';
import { showOneTimePassword } from './console-password.ts';
import { attributeSection, sentAttributes } from './form/attribute-fields.ts';
import { profileFields } from './form/profile-fields.ts';
import { versionOf } from './lookup.ts';

export interface UserFormsDependencies {
  frame: Frame;
  users: UserAdmin;
  hasMailServer: boolean;
  roles: RoleAdmin;
  issuer: string;
  /** The setting user_attributes. */
  attributeSchema(): Promise<AttributeSchema>;
}

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
export function userFormPages(router: Router<State, Extras>, dependencies: UserFormsDependencies): void {
  newUserPages(router, dependencies);
  editUserPages(router, dependencies);
}

function newUserPages(router: Router<State, Extras>, dependencies: UserFormsDependencies): void {
  const { frame, users } = dependencies;

  router.get('/new', ...frame.page(within(WRITE)), async (ctx) => frame.show(ctx, await newPage(ctx, undefined)));

  router.post('/new', ...frame.change(within(WRITE)), async (ctx) => {
    const { given, check, sent } = await readUserForm(ctx);
    if (isRowButton(sent)) return frame.show(ctx, await newPage(ctx, given, sent));
    await frame.attempt(
      ctx,
      async () => {
        check();
        const invite = given.begin === 'invite';
        const attributes = sentAttributes(await dependencies.attributeSchema(), {}, sent);
        const profile = {
          ...profileOf(given),
          ...(attributes && { attributes }),
          username: given.username,
          invite,
          roles: given.roles,
        };
        const { account, oneTimePassword } = await users.create(profile, frame.actor(ctx));
        if (!oneTimePassword) {
          const { text, tone, link } = invitedNotice(dependencies.hasMailServer, account.id);
          return frame.redirect(ctx, `/admin/users/${account.id}`, text, tone, link);
        }
        await showOneTimePassword(dependencies, ctx, account, oneTimePassword);
      },
      () => newPage(ctx, given, sent),
    );
  });

  async function newPage(ctx: Context, given: UserForm | undefined, sent?: Sent): Promise<ConsolePage> {
    const attributes = attributeSection(await dependencies.attributeSchema(), {}, sent);
    return {
      title: t('console.users.add'),
      lead: t('console.users.form.add.lead'),
      back: { href: '/admin/users', label: t('console.navigation.users') },
      blocks: [
        {
          kind: 'form',
          action: '/admin/users/new',
          fields: [],
          sections: [
            ...inSections([...(await fieldsFor(dependencies, ctx, given)), firstSignIn(given, dependencies)], SECTIONS),
            attributes,
          ],
          button: t('console.users.add'),
          cancel: '/admin/users',
        },
      ],
    };
  }
}

function editUserPages(router: Router<State, Extras>, dependencies: UserFormsDependencies): void {
  const { frame, users } = dependencies;

  router.get('/:id/edit', ...frame.page(within(WRITE)), async (ctx) => {
    const details = await editable(ctx);
    frame.show(ctx, await editPage(ctx, details.account, valuesOf(details)));
  });

  router.post('/:id/edit', ...frame.change(within(WRITE)), async (ctx) => {
    const { account } = await editable(ctx);
    const { given, check, sent } = await readUserForm(ctx);
    if (isRowButton(sent)) return frame.show(ctx, await editPage(ctx, account, given, sent));
    await frame.attempt(
      ctx,
      async () => {
        check();
        const held = await rolesOf(dependencies, ctx, account, given);
        const attributes = sentAttributes(await dependencies.attributeSchema(), account.attributes, sent);
        const profile = { ...profileOf(given), ...(attributes && { attributes }) };
        const changes = { ...profile, username: given.username, roles: held };
        await users.update(account.id, changes, frame.actor(ctx), given.version);
        frame.redirect(ctx, `/admin/users/${account.id}`, t('console.users.form.saved'));
      },
      () => editPage(ctx, account, given, sent),
    );
  });

  /** Throws forbidden, not_found, and owned_by_file. */
  async function editable(ctx: Context & { params: { id?: string } }): Promise<UserDetails> {
    const details = await users.getForChange(ctx.params.id ?? '', frame.actor(ctx), WRITE);
    if (details.account.source === 'file') throw forbidden('owned_by_file');
    return details;
  }

  async function editPage(ctx: Context, account: Account, given: UserForm, sent?: Sent): Promise<ConsolePage> {
    const attributes = attributeSection(await dependencies.attributeSchema(), account.attributes, sent);
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
          sections: [...inSections(await fieldsFor(dependencies, ctx, given), SECTIONS), attributes],
          button: t('console.shared.save-changes'),
          cancel: at,
        },
      ],
    };
  }
}

/** The roles of the form, and those of the user that the form did not offer. */
async function rolesOf(
  { frame, roles }: UserFormsDependencies,
  ctx: Context,
  account: Account,
  given: UserForm,
): Promise<string[]> {
  const offered = await roles.assignable(frame.actor(ctx));
  return [...given.roles, ...account.roles.filter((name) => !offered.includes(name))];
}

/** The form, and the fields of attributes as they were sent. */
async function readUserForm(ctx: Context) {
  const sent = toSent(await readForm(ctx, { lists: 'every field' }));
  const lists = ['roles', ...Object.keys(sent).filter((name) => name.startsWith('attributes.'))];
  return { ...(await readTypedForm(ctx, userForm.loose(), { lists })), sent };
}

async function fieldsFor({ frame, roles }: UserFormsDependencies, ctx: Context, given?: UserForm): Promise<Field[]> {
  const names = await roles.choices(frame.actor(ctx));
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

function firstSignIn(given: UserForm | undefined, { hasMailServer }: UserFormsDependencies): Field {
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
