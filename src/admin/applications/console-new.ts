// /admin/applications/new: registers an application from what it is, asks only for what that needs, and ends with the
// settings for its own side.

import type Router from '@koa/router';
import { accessDecision } from '../../applications/access-decision.ts';
import type { Extras, State } from '../../base/http/context.ts';
import { AppError, badRequest, notFound } from '../../base/http/errors.ts';
import { acceptUploads, parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/platform/defined.ts';
import type { Tx } from '../../base/storage/database.ts';
import type { Fault } from '../../base/texts/faults.ts';
import { SOURCE_LANGUAGE } from '../../base/texts/languages.ts';
import { concatenated, inLanguage, listOf, type PageText, t } from '../../base/texts/text.ts';
import type { Block, ConsolePage, Field, Option } from '../console/blocks.ts';
import { listQuery } from '../console/frame.ts';
import { searchField } from '../console/lists.ts';
import { addPage, type FormReader, longForm, type Visit } from '../console/pages.ts';
import { asTyped, type Sent, sentValue } from '../console/row-buttons.ts';
import { MAX_FORM_BYTES } from '../console/typed-form.ts';
import type { ConsoleServices } from '../console-services.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import { creatable } from './console-parts.ts';
import { NO_CHOICES, openingsToCreate } from './form/own-keys.ts';
import { applicationKey } from './form/sections.ts';
import { CREATES } from './people.ts';
import type { Preset, PresetRole } from './presets/parts.ts';
import { genericPresets, METADATA_FILE, presetOf } from './presets/presets.ts';
import { presetKinds, productPresets } from './presets/products.ts';
import { registeredPage } from './tabs/registered-page.ts';

const WRITE = 'gatehouse.applications:write' as const;
const CREATE_ROLES = 'create_roles';
const CREATE_GROUPS = 'create_groups';

/** The pages …/new and …/new/:preset. */
export function addNewApplicationPages(
  router: Router<State, Extras>,
  { frame, now, admin: { applications, people, roles, groups }, identityProvider }: ConsoleServices,
): void {
  addPage(router, frame, '/new', {
    needs: [WRITE],
    page: ({ ctx, language }) => choicePage(parseQuery(ctx, listQuery).q, language),
  });

  addPage(router, frame, '/new/:preset', {
    needs: [WRITE],
    load: async ({ params: { preset: id = '' } }) => presetOf(id) ?? throwNotFound(),
    accepts: acceptUploads(MAX_FORM_BYTES),
    form: withDocument,
    page: async (visit, sent) =>
      newPage(visit, sent, {
        roles: await roles.choices(visit.by),
        groups: visit.may(CREATES.group) ? (await groups.list({ limit: limits.api.maxPageSize })).groups : [],
      }),
    async submit(visit, sent) {
      const { ctx, subject: preset, by } = visit;
      const missing = missingIn(visit, sent);
      if (missing.roles.length > 0) frame.assertMay(ctx, CREATES.role);
      if (missing.groups.length > 0) frame.assertMay(ctx, CREATES.group);
      for (const { kind } of missing.ofRule) frame.assertMay(ctx, CREATES[kind]);
      const declared = declarationOf(preset, sent, identityProvider().name);
      // First, because the access rule may name them.
      const prepare = async (tx: Tx) => {
        if (missing.roles.length + missing.groups.length > 0)
          assertFreshProof(by, 'application.register', String(preset.title));
        await roles.createMissing(missing.roles, by, tx);
        await groups.createMissing(missing.groups, by, tx);
        await people.create(missing.ofRule, by, tx);
      };
      const options = { prepare, isNameUnique: true, isNamedByMetadata: true };
      const { application, ...created } = await withFaultsAtAnswers(preset, () =>
        applications.create(preset.protocol, declared, by, undefined, options),
      );
      const clientSecret = 'clientSecret' in created ? created.clientSecret : undefined;
      const ours = { ...identityProvider(), clientId: application.clientId, clientSecret };
      const assignable = preset.groups
        ? await groups.existing(preset.groups.map((group) => group.name))
        : await roles.assignable(by);
      const { allowed } = accessDecision(application, frame.account(ctx));
      return { result: registeredPage(application, preset, ours, { assignable, mayOpen: allowed }, now()) };
    },
  });
}

/** What the form asks to create: roles and groups that the product reads, and those that were typed into the access rule. */
const missingIn = ({ subject: preset, language }: Visit<Preset>, sent: Sent) => ({
  roles: sentValue(sent, CREATE_ROLES) === 'on' ? described(preset.roles, language) : [],
  groups: sentValue(sent, CREATE_GROUPS) === 'on' ? described(preset.groups, language) : [],
  ofRule: asksAccess(preset) ? openingsToCreate(sent) : [],
});

/** The form, with an uploaded document as if it was pasted: so it is there again after a fault. */
const withDocument: FormReader<Sent> = async (ctx) => {
  const { given, ...read } = await longForm(ctx);
  const { [METADATA_FILE]: file, ...sent } = given;
  return { ...read, given: file?.some(Boolean) ? { ...sent, metadata: file } : sent };
};

function throwNotFound(): never {
  throw notFound();
}

/** What the form declares, with the product whose guide it will have. */
function declarationOf(preset: Preset, sent: Sent, ownName: string) {
  const answers = Object.fromEntries(Object.keys(sent).map((name) => [name, sentValue(sent, name) ?? '']));
  const isProduct = productPresets().some(({ id }) => id === preset.id);
  const name = hasOwnNameField(preset) ? '' : answers.name;
  return {
    ...preset.toDeclaration(answers, ownName),
    ...(isProduct && { preset: preset.id }),
    ...(name && (preset.protocol === 'oidc' ? { client_name: name } : { name })),
    ...(mayAskConsent(preset) && { consent: applicationKey('oidc', 'consent').read(sent) }),
    ...(preset.protocol === 'saml' && applicationKey('saml', 'allow_cbc').read(sent) === true && { allow_cbc: true }),
    ...(asksAccess(preset) && { access: applicationKey(preset.protocol, 'access').read(sent) }),
  };
}

/** The roles or groups that the product reads, described in this language: as they are stored, they have one. */
const described = (known: readonly PresetRole[] = [], language: string) =>
  inLanguage(language, () => known.map(({ name, description }) => ({ name, description: String(description) })));

/** The presets of no product. */
const OWN = t('console.applications.new.own');

const hasOwnNameField = ({ fields }: Preset) => fields.some(({ name }) => name === 'name');

/** Whether its form has the consent; a product comes without. */
const mayAskConsent = (preset: Preset) =>
  preset.protocol === 'oidc' && hasUsers(preset) && genericPresets().some(({ id }) => id === preset.id);

/** Whether people sign in to it. */
const hasUsers = ({ id }: Preset) => id !== 'service';

/** Whether its form asks who can sign in. */
const asksAccess = (preset: Preset) => hasUsers(preset) && !preset.hasOwnAccess;

/**
 * The kinds of applications, and then the products by kind; with a filter, those that have its words in their lines, in the language of
 * the page or in English.
 */
function choicePage(filter: string, language: string): ConsolePage {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const tiles = (title: PageText, presets: readonly Preset[]): Block[] => {
    const items = presets
      .filter((preset) => {
        const lineIn = (one: string) => inLanguage(one, () => `${preset.id} ${preset.title} ${preset.text} ${title}`);
        const line = `${lineIn(language)} ${lineIn(SOURCE_LANGUAGE)}`.toLowerCase();
        return words.every((word) => line.includes(word));
      })
      .map(tile);
    return items.length > 0 ? [{ kind: 'tiles', title, items }] : [];
  };
  const products = Object.entries(presetKinds).flatMap(([kind, title]) =>
    tiles(
      title,
      productPresets().filter((preset) => preset.kind === kind),
    ),
  );
  const found = [...tiles(OWN, genericPresets()), ...products];
  const nothing: Block[] = [
    { kind: 'text', text: t('console.applications.new.no-match') },
    { kind: 'tiles', title: OWN, items: genericPresets().map(tile) },
  ];
  return {
    title: t('console.applications.add'),
    lead: t('console.applications.new.lead'),
    back: { href: '/admin/applications', label: t('console.applications.title') },
    blocks: [
      {
        kind: 'search',
        action: '/admin/applications/new',
        fields: [
          searchField(filter, t('console.applications.new.search-placeholder'), t('console.applications.new.search')),
        ],
        button: t('console.applications.new.filter'),
      },
      ...(found.length > 0 ? found : nothing),
    ],
  };
}

const tile = ({ id, title, text, icon }: Preset) => ({
  title,
  text,
  href: `/admin/applications/new/${id}`,
  ...(icon ? { icon } : { product: id }),
});

/** The form of a preset, with what was typed into it. */
function newPage(visit: Visit<Preset>, sent: Sent | undefined, existing: Existing): ConsolePage {
  const { subject: preset, may } = visit;
  const newRoles = may(CREATES.role) ? (preset.roles ?? []) : [];
  const fields: Field[] = present([
    ...preset.fields,
    !hasOwnNameField(preset) && nameField(preset),
    newRoles.length > 0 && rolesField(preset, newRoles),
    preset.groups && groupsField(preset, preset.groups, may(CREATES.group)),
    ...(asksAccess(preset) ? accessFields(visit, existing) : []),
    ...(mayAskConsent(preset) ? applicationKey('oidc', 'consent').fields({}) : []),
    // Once a submission was rejected: only then is it known whether the metadata demands CBC.
    ...(preset.protocol === 'saml' && sent ? applicationKey('saml', 'allow_cbc').fields({}) : []),
  ]);
  return {
    title: t('console.applications.new.title', { preset: preset.title }),
    lead: preset.text,
    back: { href: '/admin/applications/new', label: t('console.applications.add') },
    blocks: [
      {
        kind: 'form',
        action: `/admin/applications/new/${preset.id}`,
        fields: sent ? asTyped(fields, sent) : fields,
        button: t('console.applications.add'),
        cancel: '/admin/applications',
        isUpload: fields.some(({ type }) => type === 'file'),
      },
    ],
  };
}

const nameField = ({ title }: Preset): Field => ({
  name: 'name',
  label: t('console.shared.name'),
  value: String(title),
  required: true,
  hint: t('console.applications.new.name-hint'),
});

/** The roles and groups that an access rule may name. */
interface Existing {
  roles: readonly Option[];
  groups: readonly { name: string }[];
}

/** Who can sign in: everyone at first; for selected people, what the product reads is chosen already. */
function accessFields(visit: Visit<Preset>, existing: Existing): Field[] {
  const { subject: preset, may } = visit;
  const [readRoles, readGroups] = [preset.roles ?? [], preset.groups ?? []];
  // What the form offers to create can be chosen too.
  const roleHints = new Map<string, PageText | undefined>(existing.roles.map(({ value, hint }) => [value, hint]));
  if (may(CREATES.role)) for (const { name, description } of readRoles) roleHints.set(name, description);
  const roles = [...roleHints.keys()].sort((one, other) => one.localeCompare(other, 'en'));
  const offered = may(CREATES.group) ? [...readGroups, ...existing.groups] : existing.groups;
  const groups = [...new Set(offered.map(({ name }) => name))];
  const access = {
    roles: readRoles.map(({ name }) => name).filter((name) => roles.includes(name)),
    groups: readGroups.map(({ name }) => name).filter((name) => groups.includes(name)),
  };
  return applicationKey('oidc', 'access', { ...NO_CHOICES, roles, roleHints, groups, creates: creatable(visit) })
    .fields({ access })
    .map((field) =>
      field.name === 'access'
        ? { ...field, value: 'everyone', label: t('console.applications.new.who'), hint: undefined }
        : field,
    );
}

const explained = (known: readonly PresetRole[]) =>
  listOf(known.map(({ name, description }) => concatenated([name, ' (', description, ')'])));

/** Offers to create the groups that the product reads, or says which right that takes. */
function groupsField({ title }: Preset, known: readonly PresetRole[], mayCreate: boolean): Field {
  const groups = explained(known);
  return {
    name: CREATE_GROUPS,
    label: t('console.applications.new.create-groups', { product: title }),
    type: 'checkbox',
    checked: mayCreate,
    isLocked: !mayCreate,
    hint: mayCreate
      ? t('console.applications.new.create-groups-hint', { groups })
      : t('console.applications.new.no-groups-right', { groups }),
  };
}

/** Offers to create the roles that the product reads. */
function rolesField({ title }: Preset, roles: readonly PresetRole[]): Field {
  const names = explained(roles);
  return {
    name: CREATE_ROLES,
    label: t('console.applications.new.create-roles', { product: title }),
    type: 'checkbox',
    checked: true,
    hint: t('console.applications.new.create-roles-hint', { roles: names }),
  };
}

// Faults of a declaration at the fields of the form that it was made of: one answer can be in several keys.

/** Keys that a product derives from the first of its fields, such as its address. */
const ADDRESSES: ReadonlySet<string> = new Set([
  ...['client_uri', 'redirect_uris', 'post_logout_redirect_uris', 'backchannel_logout_uri'],
  ...['entity_id', 'acs_url'],
]);

/** Runs the registration. The faults that it throws get the fields of the preset. */
async function withFaultsAtAnswers<Result>(preset: Preset, register: () => Promise<Result>): Promise<Result> {
  try {
    return await register();
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'invalid_input')) throw error;
    const { text, advice, detail, faults } = error;
    throw badRequest('invalid_input', { message: text, advice, detail, faults: atAnswers(preset, faults) });
  }
}

/** Only the first one at an answer: an address that is wrong is wrong in every key. */
function atAnswers(preset: Preset, faults: readonly Fault[]): Fault[] {
  const moved = new Set<string>();
  return faults.flatMap((one) => {
    const name = answerOf(preset, one);
    if (name === undefined) return [one];
    if (moved.has(name)) return [];
    moved.add(name);
    return [{ ...one, path: [name] }];
  });
}

/** The field that the value of this key comes from; undefined for a key with a field of its own. */
function answerOf({ fields }: Preset, { path: [key = ''], code }: Fault): string | undefined {
  // The fault that there is no source of metadata has the path `name`; what the form asks for is the URL.
  if (code === 'sources') return fields.find(({ name }) => name === 'metadata_url')?.name;
  if (fields.some(({ name }) => name === key)) return undefined;
  if (key === 'client_name') return 'name';
  return ADDRESSES.has(String(key)) ? fields[0]?.name : undefined;
}
