// The settings on the pages of the console: two groups of tabs, each tab with its boxes. A setting says beside its schema which box it is in.

import { type PageText, t } from '../../base/texts/text.ts';
import { type SettingName, settingSchemas } from '../../core/settings/settings.ts';
import { type SettingBox, settingFields } from '../../core/settings/value-schemas.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';

export interface SettingTab {
  href: string;
  label: PageText;
  /** What the tab is for, in one sentence. */
  lead: PageText;
  /** Other pages about the same. */
  links?: readonly { label: PageText; href: string }[];
  boxes: readonly SettingBox[];
}

export interface SettingGroup {
  title: PageText;
  tabs: readonly SettingTab[];
}

export const SECURITY: SettingGroup = {
  title: t('console.navigation.security'),
  tabs: [
    {
      href: '/admin/security',
      label: t('console.settings.tab.methods'),
      lead: t('console.settings.tab.methods.lead'),
      boxes: ['sms', 'email-codes'],
    },
    {
      href: '/admin/security/two-step',
      label: t('console.settings.tab.two-step'),
      lead: t('console.settings.tab.two-step.lead'),
      boxes: ['who', 'set-up', 'trusted-browsers'],
    },
    {
      href: '/admin/security/passwords',
      label: t('console.settings.tab.passwords'),
      lead: t('console.settings.tab.passwords.lead'),
      boxes: ['new-passwords', 'forgotten-passwords'],
    },
    {
      href: '/admin/security/sign-up',
      label: t('console.settings.tab.sign-up'),
      lead: t('console.settings.tab.sign-up.lead'),
      links: [{ label: t('console.sign-up-codes.title'), href: '/admin/security/sign-up-codes' }],
      boxes: ['new-accounts'],
    },
    {
      href: '/admin/security/protection',
      label: t('console.settings.tab.protection'),
      lead: t('console.settings.tab.protection.lead'),
      boxes: ['limits', 'blocked-networks', 'notices'],
    },
  ],
};

export const SETTINGS: SettingGroup = {
  title: t('console.navigation.settings'),
  tabs: [
    {
      href: '/admin/settings',
      label: t('console.settings.tab.sessions'),
      lead: t('console.settings.tab.sessions.lead'),
      boxes: ['sessions', 'role-changes', 'tokens', 'api-keys'],
    },
    {
      href: '/admin/settings/languages',
      label: t('console.languages.tab'),
      lead: t('console.languages.lead'),
      links: [
        { label: t('console.navigation.branding'), href: '/admin/branding' },
        { label: t('console.languages.texts'), href: '/admin/branding/texts' },
      ],
      boxes: ['languages'],
    },
    {
      href: '/admin/settings/network',
      label: t('console.settings.tab.network'),
      lead: t('console.settings.tab.network.lead'),
      boxes: ['outgoing'],
    },
    {
      href: '/admin/settings/saml',
      label: t('console.settings.tab.saml'),
      lead: t('console.settings.tab.saml.lead'),
      boxes: ['service-providers'],
    },
    {
      href: '/admin/settings/attributes',
      label: t('console.settings.tab.attributes'),
      lead: t('console.settings.tab.attributes.lead'),
      boxes: ['attributes'],
    },
    {
      href: '/admin/settings/system',
      label: t('console.settings.tab.system'),
      lead: t('console.settings.tab.system.lead'),
      boxes: [],
    },
  ],
};

/** The permission that changes the setting. */
export function settingPermission(name: SettingName): OwnPermission {
  return settingFields.get(settingSchemas[name])?.isGeneral
    ? 'gatehouse.settings:write'
    : 'gatehouse.settings:write-security';
}
