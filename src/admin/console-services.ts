// What the pages of the console are created with: the actions, which check rights, and what pages show beside them.

import type { SettingName } from '../core/settings/settings.ts';
import type { AttributeSchema } from '../people/accounts/attributes.ts';
import type { AdminServices } from './admin-services.ts';
import { createApplicationPreviews } from './applications/preview.ts';
import { createSignInCounts } from './applications/sign-in-counts.ts';
import { createApplicationUsage } from './applications/usage.ts';
import { createWebsiteTest } from './applications/website-test.ts';
import { createFrame } from './console/frame.ts';
import { createNames } from './console/names.ts';
import type { AdminActions } from './create-admin.ts';
import { createDocuments } from './documents/documents.ts';
import { createWarnings, lockedAccounts } from './overview/warnings.ts';
import { createSearch } from './search/search.ts';
import { createTypedUsers } from './suggestions/typed-user.ts';

export type ConsoleServices = ReturnType<typeof createConsoleServices>;

export function createConsoleServices(services: AdminServices & { admin: AdminActions }) {
  const { account, accounts, admin, audit, brand, brandImages, config, db, federation, keyring, mfa, now } = services;
  const { mailServer, pictures, storedPages } = services;
  const documents = createDocuments();
  /** The stored value: another process may have changed it just now. */
  const settingOf = async (name: SettingName) => (await admin.settings.list()).find((one) => one.name === name)?.value;
  return {
    accounts,
    admin,
    audit,
    brand,
    brandImages,
    config,
    db,
    sql: services.sql,
    documents,
    mailServer,
    mfa,
    now,
    pictures,
    storedPages,
    frame: createFrame(services),
    search: createSearch({ ...services, documents }),
    names: createNames(services),
    findUser: createTypedUsers({ accounts, users: admin.users }),
    signedIn: account.page.signedIn,
    confirmation: services.rp.confirmation,
    signIns: createSignInCounts(services),
    tries: federation.tries,
    usage: createApplicationUsage(services),
    websiteTest: createWebsiteTest(services),
    /** What an application would receive about a person. */
    preview: createApplicationPreviews(services),
    warnings: createWarnings(services),
    lockedAccounts: () => lockedAccounts(services),
    settingOf,
    attributeSchema: async () => ((await settingOf('user_attributes')) ?? {}) as AttributeSchema,
    /** What an application has to know of this server. */
    identityProvider: () => ({
      issuer: config.issuer,
      name: brand.current()?.name ?? 'Gatehouse',
      certificate: keyring.samlCertificates().find(({ state }) => state === 'active')?.certificatePem ?? '',
    }),
  };
}
