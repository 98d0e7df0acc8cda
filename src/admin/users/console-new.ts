// /admin/users/new: the profile and the roles of a user as a form, and its fields.

import type Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../base/http/context.ts';
import { parse, parseQuery } from '../../base/http/input.ts';
import { present } from '../../base/platform/defined.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import {
  addressPartNames,
  addressParts,
  languageChoices,
  languageTag,
  type TextFieldName,
  textFieldNames,
  textFields,
} from '../../people/accounts/profile-fields.ts';
import { schemaFor } from '../../people/accounts/simple-attributes.ts';
import { CREATE_USERS } from '../../people/rbac/rights.ts';
import type { Field, Option } from '../console/blocks.ts';
import { bodyOf, type FormKey, fieldKey, formSections, groupKey, type KeySection } from '../console/form-fields.ts';
import { newAdministratorsQuestion } from '../console/new-administrators.ts';
import { addPage, listForm, type Visit } from '../console/pages.ts';
import { sentValue } from '../console/row-buttons.ts';
import type { ConsoleServices } from '../console-services.ts';
import { DAY_BEGINS, DAY_ENDS, day, dayOf, momentOf } from '../groups/console.ts';
import { newUser, newUserOf, withApiFieldNames } from './api.ts';
import { attributeSection, sentAttributes } from './attribute-fields.ts';
import { invitedNotice, messageField, oneTimePasswordPage, tabPath } from './console-actions.ts';

/** The page …/new. */
export function newUserPage(router: Router<State, Extras>, services: ConsoleServices): void {
  const {
    frame,
    admin: { users, roles, groups },
    attributeSchema,
    mailServer,
  } = services;
  const sectionsFor = async ({ ctx, by, may }: Visit<unknown>, begin: FormKey[] = []) =>
    sectionsOf(
      { languages: languageOptions(ctx, ''), roles: await roles.choices(by), groups: may('gatehouse.groups:write') },
      begin,
    );

  /** The attributes that the administrator may change. */
  const schemaOfFields = async (by: Actor) => schemaFor(await users.audienceOf(by), await attributeSchema());

  addPage(router, frame, '/new', {
    needs: [CREATE_USERS],
    form: listForm,
    async page(visit, sent) {
      const sections = await sectionsFor(visit, [beginKey(mailServer.isSet()), fieldKey(messageField)]);
      const { role } = parseQuery(visit.ctx, z.object({ role: z.string().max(100).optional() }));
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
              ...formSections(sections, { ...(role && { roles: [role] }) }, { isLocked: false, sent }),
              attributeSection(await schemaOfFields(visit.by), {}, sent),
            ],
            button: t('console.users.add'),
            cancel: '/admin/users',
          },
        ],
      };
    },
    async asks({ by }, sent) {
      const username = sentValue(sent, 'username') || sentValue(sent, 'email') || '';
      const person = { username, name: sentValue(sent, 'name') ?? '' };
      for (const name of sent.groups ?? []) {
        const group = name === '' ? undefined : await groups.find(name);
        const given = group && (await groups.newAdministrators(group.id, { members: [] }, by));
        if (given) return newAdministratorsQuestion({ ...given, people: [person], count: 1 });
      }
      const ticked = sent.roles ?? [];
      const isSensitive = await Promise.all(ticked.map((name) => roles.isSensitive(name, by)));
      const given = ticked.filter((_, at) => isSensitive[at]);
      return given.length > 0 ? newAdministratorsQuestion({ roles: given, people: [person], count: 1 }) : undefined;
    },
    async submit(visit, sent) {
      const keys = (await sectionsFor(visit)).flatMap((section) => section.keys);
      const attributes = sentAttributes(await schemaOfFields(visit.by), {}, sent);
      const invite = sentValue(sent, BEGIN) === 'invite';
      const message = sentValue(sent, messageField.name);
      const { username, ...values } = bodyOf(keys, sent);
      const body = parse(newUser.extend({ username: typedName }), {
        ...values,
        // The page says so.
        username: username || values.email || '',
        ...(attributes && { attributes }),
        invite,
        ...(invite && message && { invitation_message: message }),
      });
      const { account, oneTimePassword } = await withApiFieldNames(users.create(newUserOf(body), visit.by));
      if (oneTimePassword) return { result: oneTimePasswordPage(services, account, oneTimePassword) };
      return { to: tabPath(account.id, ''), notice: invitedNotice(services, account.id) };
    },
  });
}

const BEGIN = 'begin';

/** An empty username is a fault that accounts name together with those of the other fields. */
export const typedName = z.string().max(254);

/** How the user signs in for the first time. */
function beginKey(hasMailServer: boolean): FormKey {
  const key = fieldKey({
    name: BEGIN,
    label: t('console.users.form.begin'),
    type: 'select',
    ...(!hasMailServer && { hint: t('console.users.form.begin.no-mail') }),
    options: [
      { value: 'invite', label: t(`console.users.form.begin.${hasMailServer ? 'invite' : 'invite-file'}`) },
      { value: 'password', label: t('console.users.form.begin.password') },
    ],
  });
  return { ...key, fields: () => key.fields({ [BEGIN]: hasMailServer ? 'invite' : 'password' }) };
}

/** The parts of the form, without the attributes. `begin`: of a new user. */
function sectionsOf(
  choices: { languages: readonly Option[]; roles: readonly Option[]; groups: boolean },
  begin: FormKey[],
): KeySection[] {
  const texts = (names: readonly TextFieldName[]) => names.map((name) => textKey(name, choices.languages));
  const roles: Field = { name: 'roles', label: t('console.users.form.roles'), type: 'checks', options: choices.roles };
  const others = textFieldNames.filter((name) => !IN_ACCOUNT.includes(name) && name !== 'picture');
  const sections: KeySection[] = [
    {
      title: t('console.users.form.account'),
      keys: [begin.length > 0 ? newUsernameKey : usernameKey, ...emailKeys, ...texts(IN_ACCOUNT)],
    },
    { title: t('console.users.form.first-sign-in'), keys: begin },
    {
      title: t(choices.groups ? 'console.users.tab.roles' : 'console.users.roles'),
      keys: present([choices.roles.length > 0 && fieldKey(roles), choices.groups && groupsKey]),
    },
    { title: t('console.users.period'), keys: periodKeys, isAdvanced: true },
    { title: t('console.users.form.profile'), keys: [...texts(others), phoneKey], isAdvanced: true },
    { title: t('console.users.form.address'), keys: [addressKey], isAdvanced: true },
  ];
  return sections.filter(({ keys }) => keys.length > 0);
}

const groupsKey = fieldKey({
  name: 'groups',
  label: t('console.users.form.groups'),
  type: 'rows',
  columns: [{ name: '', label: t('console.groups.group'), suggest: 'groups' }],
  adds: t('console.users.form.group'),
});

/** What every user has. */
const IN_ACCOUNT: readonly TextFieldName[] = ['name', 'givenName', 'familyName'];

export const usernameKey = fieldKey({
  name: 'username',
  label: t('console.users.username'),
  required: true,
  isHalf: true,
});

/** Of a new user. */
const newUsernameKey = fieldKey({
  name: 'username',
  label: t('console.users.username'),
  hint: t('console.users.form.username-hint'),
  isHalf: true,
});

export const emailKeys = [
  fieldKey({ name: 'email', label: t('console.shared.email'), type: 'email', isHalf: true }),
  fieldKey({
    name: 'email_verified',
    label: t('console.users.form.email-verified'),
    hint: t('console.users.form.email-verified-hint'),
    type: 'checkbox',
  }),
];

/** When the account begins and ends. */
export const periodKeys = [
  momentKey('active_from', [t('console.users.form.active-from'), t('console.users.form.active-from-hint')], DAY_BEGINS),
  momentKey(
    'active_until',
    [t('console.users.form.active-until'), t('console.users.form.active-until-hint')],
    DAY_ENDS,
  ),
];

function momentKey(name: string, [label, hint]: [PageText, PageText], time: string): FormKey {
  const field: Field = { name, label, hint, type: 'date', hasTime: true, isHalf: true };
  return {
    key: name,
    fields: ({ [name]: value }) => [{ ...field, value: dayOf(value ? new Date(String(value)) : null) }],
    read(sent) {
      const typed = sentValue(sent, name) ?? '';
      return day.safeParse(typed).success ? momentOf(typed, time)?.toISOString() : typed;
    },
  };
}

export const phoneKey = fieldKey({ name: 'phone_number', label: t('console.users.phone'), isHalf: true });

export function textKey(name: TextFieldName, languages: readonly Option[]): FormKey {
  const { claim, label, hint, kind } = textFields[name];
  const choice = kind === 'language' && { type: 'select' as const, options: languages };
  return fieldKey({ name: claim, label, isHalf: name !== 'name', ...(hint && { hint }), ...choice });
}

export const languageOptions = (ctx: Visit<unknown>['ctx'], stored: string): Option[] => [
  { value: '', label: t('profile.locale-none') },
  ...languageChoices(stored, ctx.state.offeredLanguages().tags).map(({ tag, name }) => ({
    value: tag,
    label: name,
    ...(languageTag(tag) && { language: tag }),
  })),
];

export const addressKey = groupKey(
  'address',
  addressPartNames.map((part) => {
    const { label, lines } = addressParts[part];
    return fieldKey({
      name: `address.${part}`,
      label,
      ...(lines > 1 ? { type: 'textarea', rows: lines } : { isHalf: true }),
    });
  }),
);
