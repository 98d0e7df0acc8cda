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

type TabName =
  | ('methods' | 'two-step' | 'passwords' | 'sign-up' | 'protection')
  | ('sessions' | 'mail' | 'languages' | 'network' | 'saml' | 'attributes' | 'privacy' | 'system');

const tab = (name: TabName, href: string, boxes: SettingTab['boxes'], links?: SettingTab['links']): SettingTab => ({
  href,
  label: t(`console.settings.tab.${name}`),
  lead: t(`console.settings.tab.${name}.lead`),
  boxes,
  ...(links && { links }),
});

export const SECURITY: SettingGroup = {
  title: t('console.navigation.security'),
  tabs: [
    tab('methods', '/admin/security', ['sms', 'email-codes']),
    tab('two-step', '/admin/security/two-step', ['who', 'set-up', 'trusted-browsers']),
    tab('passwords', '/admin/security/passwords', ['new-passwords', 'forgotten-passwords']),
    tab(
      'sign-up',
      '/admin/security/sign-up',
      ['new-accounts'],
      [{ label: t('console.sign-up-codes.title'), href: '/admin/security/sign-up-codes' }],
    ),
    tab('protection', '/admin/security/protection', ['confirmation', 'limits', 'blocked-networks', 'notices']),
  ],
};

export const SETTINGS: SettingGroup = {
  title: t('console.navigation.settings'),
  tabs: [
    tab('sessions', '/admin/settings', ['sessions', 'role-changes', 'tokens', 'agents', 'api-keys']),
    tab(
      'mail',
      '/admin/settings/mail',
      ['mail-server', 'mail-sender'],
      [{ label: t('console.mail.delivery'), href: '/admin/mail' }],
    ),
    tab(
      'languages',
      '/admin/settings/languages',
      ['languages'],
      [
        { label: t('console.navigation.branding'), href: '/admin/branding' },
        { label: t('console.languages.texts'), href: '/admin/branding/texts' },
      ],
    ),
    tab('network', '/admin/settings/network', ['outgoing']),
    tab('saml', '/admin/settings/saml', ['service-providers']),
    tab('attributes', '/admin/settings/attributes', ['attributes']),
    tab('privacy', '/admin/settings/privacy', ['retention', 'self-deletion']),
    tab('system', '/admin/settings/system', []),
  ],
};

/** The permission that changes the setting. */
export function settingPermission(name: SettingName): OwnPermission {
  return settingFields.get(settingSchemas[name])?.isGeneral
    ? 'gatehouse.settings:write'
    : 'gatehouse.settings:write-security';
}
