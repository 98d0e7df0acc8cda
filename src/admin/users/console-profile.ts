// The tab /admin/users/:id: what is known about a user, each value with a form beside it that changes only that.

import { imageLimits } from '../../applications/brand/limits.ts';
import { notFound } from '../../base/http/errors.ts';
import { parse } from '../../base/http/input.ts';
import { fullName, pictureOf } from '../../base/http/pages/tokens.ts';
import { present } from '../../base/platform/defined.ts';
import { nameWithin } from '../../base/texts/languages.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { InvitationView } from '../../core/mail/link-tokens.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { Directory } from '../../people/accounts/accounts.ts';
import {
  addressPartNames,
  addressParts,
  languageTag,
  type TextFieldName,
  textFieldNames,
  textFields,
} from '../../people/accounts/profile-fields.ts';
import { attributesFor, schemaFor, simpleAttributes } from '../../people/accounts/simple-attributes.ts';
import { within } from '../../people/rbac/rights.ts';
import { etagOf } from '../api/versions.ts';
import {
  type Action,
  type Block,
  type Cell,
  type Field,
  type FormBlock,
  VERSION,
  versionField,
} from '../console/blocks.ts';
import { changedValues, type FormKey, fieldsOf } from '../console/form-fields.ts';
import { personLogo } from '../console/names.ts';
import type { Visit } from '../console/pages.ts';
import { type Sent, sentValue } from '../console/row-buttons.ts';
import type { ConsoleServices } from '../console-services.ts';
import { changedUser, profileOf, userJson, withApiFieldNames } from './api.ts';
import { attributeSection, attributeWords, sentAttributes } from './attribute-fields.ts';
import { actionButton, type OpenUser, tabPath } from './console-actions.ts';
import { GROUPS } from './console-grants.ts';
import { CONNECTIONS, directoryTag, invitationTags, ownStatusTag, seenCell, unusedCell } from './console-list.ts';
import {
  addressKey,
  emailKeys,
  languageOptions,
  periodKeys,
  phoneKey,
  textKey,
  typedName,
  usernameKey,
} from './console-new.ts';
import { type DisabledBy, disabledBy } from './disabled-by.ts';
import { ASSIGN } from './grants.ts';
import { versionOf } from './lookup.ts';

type Facts = Extract<Block, { kind: 'facts' }>;
type Row = Facts['rows'][number];

/** A fact, and the fields of the form that changes it. */
interface Part {
  label: PageText;
  keys(languages: ReturnType<typeof languageOptions>): FormKey[];
  /** @param language that of the page */
  value(account: Account, language: string): Cell;
}

const NAMES: readonly TextFieldName[] = ['name', 'givenName', 'middleName', 'familyName', 'nickname'];
const LANGUAGE: readonly TextFieldName[] = ['locale', 'zoneinfo'];
/** Those with a part of their own. */
const ELSEWHERE: readonly TextFieldName[] = [...NAMES, ...LANGUAGE, 'picture'];
const OTHERS = textFieldNames.filter((name) => !ELSEWHERE.includes(name));

/** A form of these texts. */
const textsOfPart =
  (names: readonly TextFieldName[]): Part['keys'] =>
  (languages) =>
    names.map((name) => textKey(name, languages));

/** A line for each value. */
const lines = (values: readonly (readonly [label: PageText, value: PageText | null | undefined])[]): Cell[] =>
  values.flatMap(([label, value]) => (value ? [[t('console.users.line', { label, value })]] : []));

const textLines = (account: Account, names: readonly TextFieldName[]) =>
  lines(names.map((name) => [textFields[name].label, account[name]]));

const parts = {
  name: {
    label: textFields.name.label,
    keys: textsOfPart(NAMES),
    value: (account) => [fullName(account) ?? [], textLines(account, NAMES.slice(1))].flat(),
  },
  email: {
    label: t('console.shared.email'),
    keys: () => emailKeys,
    value: ({ email, emailVerified }) => provable(email, emailVerified),
  },
  phone: {
    label: t('console.users.phone'),
    keys: () => [phoneKey],
    value: ({ phoneNumber, phoneNumberVerified }) => provable(phoneNumber, phoneNumberVerified),
  },
  address: {
    label: t('console.users.form.address'),
    keys: () => [addressKey],
    value: ({ address }) => lines(addressPartNames.map((part) => [addressParts[part].label, address?.[part]])),
  },
  language: {
    label: textFields.locale.label,
    keys: textsOfPart(LANGUAGE),
    value: (account, language) => [
      ...(account.locale ? [[languageCell(account.locale, language)]] : []),
      ...textLines(account, ['zoneinfo']),
    ],
  },
  more: {
    label: t('console.users.more'),
    keys: textsOfPart(OTHERS),
    value: (account) => textLines(account, OTHERS),
  },
  period: {
    label: t('console.users.period'),
    keys: () => periodKeys,
    value: ({ activeFrom, activeUntil }) =>
      present([
        activeFrom && { text: t('console.users.period.from', { at: activeFrom }) },
        activeUntil && { text: t('console.users.period.until', { at: activeUntil }) },
        !(activeFrom || activeUntil) && t('console.users.period.always'),
      ]),
  },
  username: {
    label: t('console.users.username'),
    keys: () => [usernameKey],
    value: (account) => account.username,
  },
} as const satisfies Record<string, Part>;
type PartName = keyof typeof parts;

/** What has a form on the tab. */
export type ChangedPart = PartName | 'attributes' | 'picture';

/** The part whose form is open, as it was sent. */
export interface OpenPart {
  part: ChangedPart;
  sent?: Sent | undefined;
}

/** The part that the address of a form names. Throws not_found. */
export function partAt({ part = '' }: Record<string, string>): PartName | 'attributes' {
  if (part === 'attributes' || Object.hasOwn(parts, part)) return part as PartName | 'attributes';
  throw notFound({ detail: { part } });
}

/** The parts that a directory manages. */
const LOCKED: readonly ChangedPart[] = ['name', 'email', 'phone', 'address', 'username'];

const isManaged = (directory: Directory | undefined): directory is Directory => directory?.deletedAt === null;

/** The custom attributes that the administrator may change, their schema, and those that a directory manages. */
async function attributesOf(
  { attributes }: Account,
  by: Actor,
  services: ConsoleServices,
  directory: Directory | undefined,
) {
  const audience = await services.admin.users.audienceOf(by);
  const all = await services.attributeSchema();
  const locked = isManaged(directory) ? directory.attributes : [];
  const isOpen = ([name]: [string, unknown]) => !locked.includes(name);
  const open = (values: object) => Object.fromEntries(Object.entries(values).filter(isOpen));
  const changed = schemaFor(audience, all);
  const schema = changed.properties ? { ...changed, properties: open(changed.properties) } : changed;
  const own = open(attributesFor(audience, all, attributes, 'editable_by'));
  const kept = Object.fromEntries(Object.entries(attributes).filter((entry) => !isOpen(entry)));
  const hasNone = schema.additionalProperties === false && Object.keys(schema.properties ?? {}).length === 0;
  return { schema, own, kept, hasNone };
}

/** The blocks of the tab. */
export async function profileBlocks(
  visit: Visit<OpenUser>,
  services: ConsoleServices,
  { open, delivery }: { open?: OpenPart | undefined; delivery?: Cell | undefined } = {},
): Promise<Block[]> {
  const { ctx, language, meets, subject } = visit;
  const { details, path, may, mayWrite, offered } = subject;
  const { account, directory, ssoConnection, unusedEnd } = details;
  const mayChange = mayWrite && account.source !== 'file';
  const disabled = may('gatehouse.audit:read') ? await disabledBy(services, account) : undefined;
  const languages = languageOptions(ctx, account.locale ?? '');
  const { schema, own, hasNone } = await attributesOf(account, visit.by, services, directory);
  const declared = simpleAttributes(await services.attributeSchema());
  const labels = new Map(declared.map(({ name, label }) => [name, label]));
  const current = etagOf(versionOf(account, ssoConnection));

  const formOf = (
    part: PartName | 'attributes',
    fields: (sent: Sent | undefined) => readonly Field[],
  ): Pick<Row, 'form' | 'isOpen'> => {
    if (!mayChange || (isManaged(directory) && LOCKED.includes(part))) return {};
    const sent = open?.part === part ? open.sent : undefined;
    const form: FormBlock = {
      kind: 'form',
      action: `${path}/change/${part}`,
      fields: [versionField((sent && sentValue(sent, VERSION)) ?? current), ...fields(sent)],
      button: t('console.shared.save-changes'),
      cancel: path,
    };
    return { form, isOpen: open?.part === part };
  };
  const row = (part: PartName): Row => {
    const { label, keys, value } = parts[part];
    const form = formOf(part, (sent) => fieldsOf(keys(languages), userJson(account), sent));
    return { label, value: value(account, language), ...form };
  };
  const button = (action: string): Action | undefined => {
    const found = offered.find((one) => one.path === action);
    return found && actionButton(path, found);
  };

  const profile: Row[] = [
    pictureRow(account, path, { mayChange, isOpen: open?.part === 'picture' }),
    ...(['name', 'email', 'phone', 'language', 'address', 'more'] as const).map(row),
    {
      label: t('console.users.form.attributes'),
      value: lines(
        Object.entries(account.attributes).map(([name, value]) => [labels.get(name) ?? name, attributeWords(value)]),
      ),
      ...(!hasNone && formOf('attributes', (sent) => attributeSection(schema, own, sent).fields)),
    },
  ];
  const invitation = { value: invitationCell(details.invitation, delivery), action: button('invite') };
  const change = (of: PageText): Action => ({
    label: t('console.page.change'),
    of,
    href: tabPath(account.id, 'roles'),
  });
  const state: Row[] = present([
    row('username'),
    {
      label: t('console.roles.managed-by'),
      value: directoryTag(directory, may(CONNECTIONS)),
    },
    {
      label: t('console.shared.status'),
      value: [ownStatusTag(details), ...(disabled ? disabledCell(disabled) : [])],
      action: button('unlock') ?? button(account.isEnabled ? 'disable' : 'enable'),
    },
    ...(invitation.value || invitation.action ? [{ label: t('console.mail.template.invitation'), ...invitation }] : []),
    {
      label: t('console.users.roles'),
      value: account.roles.map((text) => ({ text, tone: 'plain' as const })),
      action: mayChange && meets(within(...ASSIGN)) ? change(t('console.users.roles')) : undefined,
    },
    {
      label: t('console.navigation.groups'),
      value: account.groups.map((one) => groupMark(one)),
      action: may(GROUPS) ? change(t('console.navigation.groups')) : undefined,
    },
    (details.hasTermsDue || account.termsVersion !== null) && {
      label: t('console.users.terms'),
      value: termsCell(account, details.hasTermsDue),
    },
    { label: t('console.users.sub'), value: { text: account.id, copy: t('console.users.sub.copy') } },
    row('period'),
    { label: t('console.users.last-seen'), value: seenCell(account, services.now()) },
    unusedEnd && { label: t('console.users.unused', { what: unusedEnd.what }), value: unusedCell(unusedEnd) },
    { label: t('console.users.created'), value: account.createdAt },
  ]);
  return [
    { kind: 'facts', title: t('console.users.form.profile'), rows: profile.filter(isOfUse) },
    { kind: 'facts', title: t('console.users.form.account'), rows: state.filter(isOfUse) },
  ];
}

/** A row without a value is of use only with what gives it one. */
const isOfUse = ({ value, form, action }: Row): boolean =>
  Boolean(form || action || (Array.isArray(value) ? value.length > 0 : value));

/** Carries out the form of a part. */
export async function changePart(
  { ctx, by, subject: account }: Visit<Account>,
  services: ConsoleServices,
  sent: Sent,
): Promise<void> {
  const part = partAt(ctx.params);
  const changes: Record<string, unknown> = {};
  if (part === 'attributes') {
    const directory = (await services.accounts.directoriesOf([account.id])).get(account.id);
    const { schema, own, kept } = await attributesOf(account, by, services, directory);
    const attributes = sentAttributes(schema, own, sent);
    if (attributes) changes.attributes = { ...attributes, ...kept };
  } else {
    const keys = parts[part].keys(languageOptions(ctx, account.locale ?? ''));
    Object.assign(changes, changedValues(keys, userJson(account), sent));
  }
  // A new address is as verified as the form says.
  if ('email' in changes) changes.email_verified = sentValue(sent, 'email_verified') === 'on';
  const body = parse(changedUser.extend({ username: typedName.optional() }), changes);
  const version = sentValue(sent, VERSION) ?? '';
  await withApiFieldNames(services.admin.users.update(account.id, profileOf(body), by, version));
}

/** The picture that pages display; the address of one elsewhere; a button that removes it, and the form for another one. */
function pictureRow(
  account: Account,
  path: string,
  { mayChange, isOpen }: { mayChange: boolean; isOpen: boolean },
): Row {
  const { picture } = account;
  const shown: Cell = pictureOf(account) ? { text: '', logo: personLogo(account) } : picture;
  const fact = { label: textFields.picture.label, value: picture ? shown : null };
  if (!mayChange) return fact;
  const form: FormBlock = {
    kind: 'form',
    action: `${path}/picture`,
    fields: [{ name: 'picture', label: t('picture.choose'), type: 'file', cropSize: imageLimits.bytes / 1000 }],
    button: t('picture.save'),
    cancel: path,
    isUpload: true,
  };
  const remove = { label: t('picture.remove'), post: `${path}/picture/remove` };
  return { ...fact, ...(picture && { value: [shown, remove] }), form, isOpen };
}

/** The version that the user accepted last, and whether that of now is missing. */
const termsCell = ({ termsVersion, termsAcceptedAt }: Account, isDue: boolean): Cell =>
  present([
    isDue && { text: t('console.users.terms-due'), tone: 'warn' },
    ...(termsVersion !== null && termsAcceptedAt ? [termsVersion, termsAcceptedAt] : []),
  ]);

/** What became of the last invitation: its state, since when, until when it can be accepted, and its email while that is kept. */
function invitationCell(invitation: InvitationView | undefined, delivery: Cell | undefined): Cell | undefined {
  if (!invitation) return delivery;
  const { state, sentAt, expiresAt, openedAt, acceptedAt } = invitation;
  const isOpen = state === 'invited' || state === 'opened';
  return [
    invitationTags[state],
    (state === 'expired' ? expiresAt : undefined) ?? acceptedAt ?? openedAt ?? sentAt,
    ...(isOpen ? [{ text: t('console.users.invitation.until', { at: expiresAt }) }] : []),
    ...(delivery && state !== 'accepted' ? [delivery].flat() : []),
  ];
}

/** The group, and how long the user is in it, by which other group. */
function groupMark({ id, name, isDirect, via, until }: Account['groups'][number]): Cell {
  const said = t('console.users.group', {
    via: isDirect ? '' : via,
    until: until ?? new Date(0),
    form: `${isDirect ? 'direct' : 'via'}${until ? 'until' : ''}`,
  });
  return { text: name, href: `/admin/groups/${id}`, ...((!isDirect || until) && { small: said }) };
}

/** The name of the language, and its tag. */
function languageCell(locale: string, language: string): Cell {
  const tag = languageTag(locale);
  return tag === undefined ? locale : { text: nameWithin(language, tag), small: locale };
}

function provable(text: string | null | undefined, isVerified: boolean): Cell {
  if (!text) return null;
  return { text, small: isVerified ? t('console.users.verified') : t('console.users.not-verified') };
}

function disabledCell({ at, by }: DisabledBy): Cell[] {
  return [at, ...(by ? [t('console.users.disabled.by', { user: by })] : [])];
}
