// /admin/users/new and …/:id/edit: the profile and the roles of a user as a form.

import type Router from '@koa/router';
import { z } from 'zod';
import { imageLimits } from '../../applications/brand/limits.ts';
import type { Extras, State } from '../../base/http/context.ts';
import { forbidden, invalidInput } from '../../base/http/errors.ts';
import { acceptPictures, parse } from '../../base/http/input.ts';
import { textFault } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { bytesOf, isImageData } from '../../core/settings/value-schemas.ts';
import type { Account } from '../../people/accounts/account.ts';
import {
  type Address,
  addressPartNames,
  addressParts,
  languageChoices,
  languageTag,
  type TextFieldName,
  textFieldNames,
  textFields,
} from '../../people/accounts/profile-fields.ts';
import { attributesFor, schemaFor } from '../../people/accounts/simple-attributes.ts';
import { within } from '../../people/rbac/rights.ts';
import { etagOf } from '../api/versions.ts';
import { type Field, type Option, VERSION, versionField } from '../console/blocks.ts';
import {
  bodyOf,
  changedValues,
  type FormKey,
  fieldKey,
  formSections,
  type KeySection,
  type Values,
} from '../console/form-fields.ts';
import { personLogo } from '../console/names.ts';
import { addPage, listForm, type Visit } from '../console/pages.ts';
import { type Sent, sentValue } from '../console/row-buttons.ts';
import type { ConsoleServices } from '../console-services.ts';
import { changedUser, newUser, newUserOf, profileOf, userJson, withApiFieldNames } from './api.ts';
import { attributeSection, sentAttributes } from './attribute-fields.ts';
import { invitedNotice, messageField, nameOf, oneTimePasswordPage, tabPath } from './console-actions.ts';
import type { HeldRole } from './grants.ts';
import { versionOf } from './lookup.ts';

const WRITE = 'gatehouse.users:write' as const;

/** The pages …/new and …/:id/edit. */
export function userFormPages(router: Router<State, Extras>, services: ConsoleServices): void {
  const {
    frame,
    admin: { users, roles },
    attributeSchema,
    config: { hasMailServer },
  } = services;
  const sectionsFor = async ({ ctx, by }: Visit<unknown>, locale: string | null, begin: FormKey[] = []) =>
    sectionsOf({ languages: languageOptions(ctx, locale ?? ''), roles: await roles.choices(by) }, begin);

  /** The attributes that the administrator may change. */
  const schemaOfFields = async (by: Actor) => schemaFor(await users.audienceOf(by), await attributeSchema());
  const changeable = async ({ attributes }: Account, by: Actor) =>
    attributesFor(await users.audienceOf(by), await attributeSchema(), attributes, 'editable_by');

  /** The sections of an account, with its roles: those given directly can be taken, those of groups and connections are only displayed. */
  async function sectionsOfAccount({ ctx, by, subject: account }: Visit<Account>) {
    const held = await users.heldRoles(account.id, by);
    const isDirect = ({ via, group }: HeldRole) => via === '' && !group;
    const direct = held.filter(isDirect).map(({ name }) => name);
    const choices = (await roles.choices(by)).map((option) => {
      const other = held.find((one) => one.name === option.value && !isDirect(one));
      if (!other || !account.roles.includes(option.value)) return option;
      const hint = other.group
        ? t('console.users.held.by-group', { group: other.group.name })
        : t('console.users.form.by-connection');
      return { ...option, hint, isLocked: !direct.includes(option.value) };
    });
    const languages = languageOptions(ctx, account.locale ?? '');
    return { direct, sections: sectionsOf({ languages, roles: choices }, []) };
  }

  /** The chosen roles, and those of the user that the form does not offer. */
  const withOthers = async (chosen: readonly string[], held: readonly string[], by: Actor) => {
    const offered = await roles.assignable(by);
    return [...chosen, ...held.filter((name) => !offered.includes(name))];
  };

  addPage(router, frame, '/new', {
    needs: [within(WRITE)],
    form: listForm,
    async page(visit, sent) {
      const sections = await sectionsFor(visit, null, [beginKey(hasMailServer), fieldKey(messageField)]);
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
              ...formSections(sections, {}, { isLocked: false, sent }),
              attributeSection(await schemaOfFields(visit.by), {}, sent),
            ],
            button: t('console.users.add'),
            cancel: '/admin/users',
          },
        ],
      };
    },
    async submit(visit, sent) {
      const keys = (await sectionsFor(visit, null)).flatMap((section) => section.keys);
      const attributes = sentAttributes(await schemaOfFields(visit.by), {}, sent);
      const invite = sentValue(sent, BEGIN) === 'invite';
      const message = sentValue(sent, messageField.name);
      const body = parse(newUser.extend({ username: typedName }), {
        ...bodyOf(keys, sent),
        ...(attributes && { attributes }),
        invite,
        ...(invite && message && { invitation_message: message }),
      });
      const { account, oneTimePassword } = await withApiFieldNames(users.create(newUserOf(body), visit.by));
      if (oneTimePassword) return { result: oneTimePasswordPage(services, account, oneTimePassword) };
      return { to: tabPath(account.id, ''), notice: invitedNotice(hasMailServer, account.id) };
    },
  });

  addPage(router, frame, '/:id/picture', {
    needs: [within(WRITE)],
    async load({ params: { id = '' } }, by) {
      const account = await users.find(id, by, WRITE);
      if (account.source === 'file') throw forbidden('owned_by_file');
      return account;
    },
    assertOpen: ({ by, subject }) => users.assertMayChange(subject, by, WRITE),
    accepts: acceptPictures(imageLimits.requestBytes),
    form: pictureForm,
    page({ subject: account }) {
      const at = tabPath(account.id, '');
      return {
        title: t('picture.title'),
        lead: nameOf(account),
        logo: personLogo(nameOf(account), account),
        back: { href: at, label: nameOf(account) },
        blocks: [
          {
            kind: 'form',
            action: `${at}/picture`,
            isUpload: true,
            fields: [{ name: 'picture', label: t('picture.choose'), type: 'file', cropSize: imageLimits.bytes / 1000 }],
            button: t('picture.save'),
            cancel: at,
          },
          ...(account.picture === null
            ? []
            : [{ kind: 'actions' as const, items: [{ label: t('picture.remove'), post: `${at}/picture/remove` }] }]),
        ],
      };
    },
    async submit({ by, subject: { id } }, { picture }) {
      if (!isImageData(picture)) throw invalidInput([textFault(['picture'], t('picture.kind'))]);
      await users.setPicture(id, bytesOf(picture), by);
      return { to: tabPath(id, ''), notice: t('console.users.form.saved') };
    },
  });

  addPage(router, frame, '/:id/picture/remove', {
    needs: [within(WRITE)],
    load: ({ params: { id = '' } }, by) => users.find(id, by, WRITE),
    async submit({ by, subject: { id } }) {
      await users.update(id, { picture: null }, by);
      return { to: tabPath(id, ''), notice: t('console.users.form.saved') };
    },
  });

  addPage(router, frame, '/:id/edit', {
    needs: [within(WRITE)],
    async load({ params: { id = '' } }, by) {
      const account = await users.find(id, by, WRITE);
      if (account.source === 'file') throw forbidden('owned_by_file');
      return account;
    },
    assertOpen: ({ by, subject }) => users.assertMayChange(subject, by, WRITE),
    form: listForm,
    async page(visit, sent) {
      const account = visit.subject;
      const ssoConnection = (await users.connectionsOf([account])).get(account.id) ?? null;
      const version = (sent && sentValue(sent, VERSION)) ?? etagOf(versionOf(account, ssoConnection));
      const at = tabPath(account.id, '');
      const { direct, sections } = await sectionsOfAccount(visit);
      return {
        title: t('console.users.form.edit.title', { user: nameOf(account) }),
        lead: t('console.users.form.edit.lead'),
        back: { href: at, label: nameOf(account) },
        blocks: [
          {
            kind: 'form',
            action: `${at}/edit`,
            fields: [versionField(version)],
            sections: [
              ...formSections(sections, { ...userJson(account), roles: direct }, { isLocked: false, sent }),
              attributeSection(await schemaOfFields(visit.by), await changeable(account, visit.by), sent),
            ],
            button: t('console.shared.save-changes'),
            cancel: at,
          },
        ],
      };
    },
    async submit(visit, sent) {
      const { by, subject: account } = visit;
      const { direct, sections } = await sectionsOfAccount(visit);
      const values = { ...userJson(account), roles: direct };
      const keys = sections.flatMap((section) => section.keys);
      const { roles: chosen, ...changed } = changedValues(keys, values, sent);
      const attributes = sentAttributes(await schemaOfFields(by), await changeable(account, by), sent);
      const body = parse(changedUser.extend({ username: typedName.optional() }), {
        ...changed,
        // A new address is as verified as the form says.
        ...('email' in changed && { email_verified: sentValue(sent, 'email_verified') === 'on' }),
        ...(attributes && { attributes }),
      });
      const names = chosen === undefined ? {} : { roles: await withOthers(chosen as string[], account.roles, by) };
      const version = sentValue(sent, VERSION) ?? '';
      await withApiFieldNames(users.update(account.id, { ...profileOf(body), ...names }, by, version));
      return { to: tabPath(account.id, ''), notice: t('console.users.form.saved') };
    },
  });
}

const pictureForm = z.object({
  picture: z
    .string()
    .max(imageLimits.requestBytes * 2)
    .default(''),
});

const BEGIN = 'begin';

/** An empty username is a fault that accounts name together with those of the other fields. */
const typedName = z.string().max(254);

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
  choices: { languages: readonly Option[]; roles: readonly Option[] },
  begin: FormKey[],
): KeySection[] {
  const own: FormKey[] = [
    fieldKey({ name: 'username', label: t('console.users.username'), required: true, isHalf: true }),
    fieldKey({ name: 'email', label: t('console.shared.email'), type: 'email', isHalf: true }),
    fieldKey({
      name: 'email_verified',
      label: t('console.users.form.email-verified'),
      hint: t('console.users.form.email-verified-hint'),
      type: 'checkbox',
    }),
  ];
  const texts = (names: readonly TextFieldName[]) => names.map((name) => textKey(name, choices.languages));
  const roles: Field = { name: 'roles', label: t('console.users.form.roles'), type: 'checks', options: choices.roles };
  const phone = fieldKey({ name: 'phone_number', label: t('console.users.phone'), isHalf: true });
  const others = textFieldNames.filter((name) => !IN_ACCOUNT.includes(name) && name !== 'picture');
  const sections: KeySection[] = [
    { title: t('console.users.form.account'), keys: [...own, ...texts(IN_ACCOUNT)] },
    { title: t('console.users.form.first-sign-in'), keys: begin },
    { title: t('console.users.roles'), keys: choices.roles.length > 0 ? [fieldKey(roles)] : [] },
    { title: t('console.users.form.profile'), keys: [...texts(others), phone], isAdvanced: true },
    { title: t('console.users.form.address'), keys: [addressKey], isAdvanced: true },
  ];
  return sections.filter(({ keys }) => keys.length > 0);
}

/** What every user has. */
const IN_ACCOUNT: readonly TextFieldName[] = ['name', 'givenName', 'familyName'];

function textKey(name: TextFieldName, languages: readonly Option[]): FormKey {
  const { claim, label, hint, kind } = textFields[name];
  const choice = kind === 'language' && { type: 'select' as const, options: languages };
  return fieldKey({ name: claim, label, isHalf: name !== 'name', ...(hint && { hint }), ...choice });
}

const languageOptions = (ctx: Visit<unknown>['ctx'], stored: string): Option[] => [
  { value: '', label: t('profile.locale-none') },
  ...languageChoices(stored, ctx.state.offeredLanguages().tags).map(({ tag, name }) => ({
    value: tag,
    label: name,
    ...(languageTag(tag) && { language: tag }),
  })),
];

/** A field for each part, by the path of its value. */
const addressKey: FormKey = (() => {
  const parts = addressPartNames.map((part) => {
    const { label, lines } = addressParts[part];
    const shape = lines > 1 ? { type: 'textarea' as const, rows: lines } : { isHalf: true };
    return { part, key: fieldKey({ name: `address.${part}`, label, ...shape }) };
  });
  return {
    key: 'address',
    fields: ({ address }: Values) =>
      parts.flatMap(({ part, key }) => key.fields({ [key.key]: (address as Address | null | undefined)?.[part] })),
    read(sent: Sent) {
      const given = parts.map(({ part, key }) => [part, key.read(sent)] as const).filter(([, value]) => value);
      return given.length > 0 ? Object.fromEntries(given) : undefined;
    },
  };
})();
