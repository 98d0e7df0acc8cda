// The page after the registration of an application: its secret, the settings for its side, who can sign in, and what comes next.
import type { Application } from '../../../applications/application.ts';
import { present } from '../../../base/platform/defined.ts';
import { allOf, oneOf, type PageText, t } from '../../../base/texts/text.ts';
import { metadataWarnings, parseServiceProviderMetadata } from '../../../protocols/saml/metadata/parse.ts';
import type { RequestedAttribute } from '../../../protocols/saml/metadata/presentation.ts';
import type { Action, Block, Cell, ConsolePage } from '../../console/blocks.ts';
import { expiryCell } from '../../console/expiry.ts';
import { readsRolesOrGroups, rolesReadBy } from '../presets/demands.ts';
import type { IdentityProvider, Preset } from '../presets/parts.ts';
import { setupInstructionBlocks } from './setup-guide.ts';

/**
 * @param assignable names of roles that the administrator may assign, or of groups that exist
 * @param mayOpen whether the rule lets the administrator in
 */
export function registeredPage(
  application: Application,
  preset: Preset,
  identityProvider: IdentityProvider,
  { assignable, mayOpen }: { assignable: readonly string[]; mayOpen: boolean },
  now: Date,
): ConsolePage {
  const { clientSecret } = identityProvider;
  const { id, name } = application;
  return {
    title: t('console.tabs.registered.title', { name }),
    lead: t('console.tabs.registered.lead', { name }),
    back: { href: '/admin/applications', label: t('console.navigation.applications') },
    blocks: [
      ...(clientSecret ? [secretBlock(clientSecret)] : []),
      ...setupInstructionBlocks(application, identityProvider),
      ...documentBlocks(application, now),
      ...accessBlocks(application, preset, assignable),
      {
        kind: 'tasks',
        title: t('console.tabs.registered.when', { name }),
        rows: present([
          !mayOpen && {
            text: t('console.tabs.registered.closed-text', { name }),
            action: { label: t('console.people.give'), href: `/admin/applications/${id}/people`, isNewTab: true },
          },
          canTestSignIn(application) && { text: t('console.tabs.registered.test-text'), action: testSignIn(id) },
          application.protocol === 'proxy' && websiteTest(id),
          {
            text: t('console.tabs.registered.view-text'),
            action: { label: t('console.tabs.registered.view'), href: `/admin/applications/${id}` },
          },
        ]),
      },
    ],
  };
}

/** What was read from the metadata of a service provider. */
function documentBlocks(application: Application, now: Date): Block[] {
  const { protocol, metadata } = application;
  if (protocol !== 'saml' || metadata.metadata_xml === undefined) return [];
  const read = parseServiceProviderMetadata(metadata.metadata_xml, new Date(0));
  const keys = [
    ...read.signingCertificates.map((one) => ({ ...one, use: t('console.fields.certificates.signing') })),
    ...read.encryptionCertificates.map((one) => ({ ...one, use: t('console.fields.encryption') })),
  ];
  const rows: { label: PageText; value: Cell }[] = present([
    { label: t('console.tabs.value.entity-id'), value: { text: read.entityId, code: true } },
    { label: t('console.field.acs_url.label'), value: read.acs.map(({ url }) => ({ text: url, code: true })) },
    read.slo.length > 0 && {
      label: t('console.field.slo_url.label'),
      value: read.slo.map((one) => ({ text: one.location, code: true })),
    },
    ...listed(t('console.tabs.registered.name-id'), read.nameIdFormats),
    ...listed(
      t('console.tabs.registered.attributes'),
      read.requestedAttributes.map((one) =>
        t('console.tabs.registered.attribute', { name: attributeName(one), required: one.isRequired ? 'yes' : 'no' }),
      ),
    ),
    ...keys.map(({ use, expiresAt, fingerprint }) => ({
      label: t('console.tabs.registered.key', { use }),
      value: [expiryCell(expiresAt, now), { text: fingerprint, code: true }],
    })),
  ]);
  const facts: Block = { kind: 'facts', title: t('console.tabs.registered.read'), rows };
  const warnings = metadataWarnings(read).map((text): Block => ({ kind: 'text', tone: 'warning', text }));
  return [facts, ...warnings, ...unsentBlocks(application)];
}

const listed = (label: PageText, value: Cell[]) => (value.length > 0 ? [{ label, value }] : []);

const attributeName = ({ name, friendlyName }: RequestedAttribute) =>
  friendlyName === undefined || friendlyName === name ? name : `${friendlyName} (${name})`;

/** Warns of the attributes that the metadata requires and the registration does not send. */
export function unsentBlocks({ protocol, name, metadata }: Application): Block[] {
  if (protocol !== 'saml' || metadata.metadata_xml === undefined) return [];
  const { requestedAttributes } = parseServiceProviderMetadata(metadata.metadata_xml, new Date(0));
  const unsent = requestedAttributes.filter((one) => one.isRequired && metadata.attributes[one.name] === undefined);
  if (unsent.length === 0) return [];
  const values = { name, attributes: allOf(unsent.map(attributeName)), count: unsent.length };
  return [{ kind: 'text', tone: 'warning', text: t('console.tabs.registered.not-sent', values) }];
}

/** The page that displays a new client secret. */
export function newSecretPage(
  application: Application,
  clientSecret: string,
  identityProvider: Omit<IdentityProvider, 'clientId' | 'clientSecret'>,
  ofOld?: PageText,
): ConsolePage {
  const { clientId, id, name } = application;
  return {
    title: t('console.tabs.guide.new-secret'),
    back: { href: `/admin/applications/${id}/credentials`, label: name },
    blocks: [
      secretBlock(clientSecret),
      ...(ofOld ? [{ kind: 'text', text: ofOld } as const] : []),
      ...setupInstructionBlocks(application, { ...identityProvider, clientId, clientSecret }),
    ],
  };
}

const secretBlock = (text: string): Block => ({
  kind: 'secret',
  label: t('console.tabs.value.client-secret'),
  copied: t('console.shared.copied.client-secret'),
  text,
  lead: t('console.tabs.secret.copy'),
});

/** In a new tab: this one may display the secret. */
const testSignIn = (id: string): Action => ({
  label: t('console.tabs.test-sign-in'),
  icon: 'play',
  href: `/admin/test/${id}`,
  isNewTab: true,
});

const websiteTest = (id: string) => ({
  text: t('console.website-test.lead'),
  action: {
    label: t('console.website-test.run'),
    icon: 'play',
    href: `/admin/applications/${id}/test`,
    isNewTab: true,
  },
});

function canTestSignIn({ protocol, metadata }: Application): boolean {
  if (protocol === 'proxy') return false;
  return protocol === 'saml' || (metadata.redirect_uris.length > 0 && !metadata.require_pushed_authorization_requests);
}

function usersWith(roles: readonly string[], groups: readonly string[]) {
  if (groups.length === 0) return t('console.tabs.registered.users-with', { roles: oneOf(roles) });
  const named = { roles: oneOf(roles), groups: oneOf(groups), only: roles.length === 0 ? 'groups' : 'no' };
  return t('console.tabs.registered.users-in', named);
}

/** Who can sign in, and what the roles or groups mean that the product reads. */
function accessBlocks(
  { id, name, protocol, metadata, access }: Application,
  preset: Preset,
  assignable: readonly string[],
): Block[] {
  if (protocol === 'oidc' && metadata.redirect_uris.length === 0) return [];
  const [known, of] = [rolesReadBy(preset), readsRolesOrGroups(preset)];
  const names = access === 'everyone' ? [] : [...access.roles, ...(access.groups ?? [])];
  const isOpen = access === 'everyone' || names.some((one) => !known.some(({ name }) => name === one));
  const withoutRoles = isOpen ? preset.withoutRoles : undefined;
  const who = access === 'everyone' ? t('console.tabs.everyone') : usersWith(access.roles, access.groups ?? []);
  return [
    {
      kind: 'facts',
      title: t('console.tabs.registered.who'),
      actions: [
        {
          label: t('console.tabs.registered.change'),
          of: t('console.tabs.registered.change-who'),
          href: `/admin/applications/${id}/access`,
        },
      ],
      rows: [
        { label: t('console.tabs.access'), value: who },
        ...known
          .filter(({ name }) => assignable.includes(name))
          .map(({ name: role, description }) => ({
            label: t('console.tabs.registered.with-role', { role, of }),
            value: description,
          })),
        ...(withoutRoles
          ? [
              {
                label: known.length > 0 ? t('console.tabs.registered.without-roles', { of }) : name,
                value: withoutRoles,
              },
            ]
          : []),
      ],
    },
  ];
}
