// The access check: whether a person can sign in to an application, or why not and what fixes it; what the application would receive,
// without a sign-in; and the last attempts, each with its exact reason.

import { createApplicationPreviews } from '../../admin/applications/preview.ts';
import { accessDecision } from '../../applications/access-decision.ts';
import type { Application } from '../../applications/application.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import type { DiagnosticServices } from '../services.ts';
import { type Attempts, type AttemptsQuery, readAttempts } from './attempts.ts';
import type { Check } from './check.ts';
import { checksOf } from './checks.ts';
import { readFacts } from './facts.ts';
import { type Cause, causesOf } from './fixes.ts';

export interface AccessReport {
  /** The access rule (applications/access-decision.ts). */
  mayOpen: boolean;
  /** The access rule, and every other check. */
  canSignIn: boolean;
  checks: Check[];
}

export type AccessCheck = ReturnType<typeof createAccessCheck>;

/** Reads only, except for the fixes. */
export function createAccessCheck(services: DiagnosticServices) {
  const { db, applications } = services;

  async function reportOf(account: Account, application: Application) {
    const facts = await readFacts(services, account, application);
    const checks = checksOf(facts);
    const { allowed: mayOpen } = accessDecision(application, account);
    return {
      facts,
      report: { mayOpen, canSignIn: mayOpen && checks.every(({ state }) => state !== 'failed'), checks },
    };
  }

  return {
    /** By id, username, email address or full name. */
    findUser: services.findUser,

    /** By id, client_id, entity ID or name. */
    async findApplication(text: string): Promise<Application | undefined> {
      const byClient = await applications.find(text);
      if (byClient) return byClient;
      const byId = await db.asStored.application.findUnique({ where: { id: text }, select: { id: true } });
      if (byId) return applications.get(text);
      const { applications: found } = await applications.list({ search: text, limit: 2 });
      const exact = found.find(({ name }) => name.toLowerCase() === text.toLowerCase());
      return exact ?? (found.length === 1 ? found[0] : undefined);
    },

    report: async (account: Account, application: Application): Promise<AccessReport> =>
      (await reportOf(account, application)).report,

    /** The report, and what this actor can do about each cause. */
    async diagnose(
      account: Account,
      application: Application,
      viewer: { by: Actor; mayOpen(permission: OwnPermission): boolean },
    ): Promise<AccessReport & { causes: Cause[] }> {
      const { facts, report } = await reportOf(account, application);
      return { ...report, causes: await causesOf(services, report.checks, facts, viewer) };
    },

    preview: createApplicationPreviews(services),
    attempts: (about: AttemptsQuery): Promise<Attempts> => readAttempts(services, about),
  };
}
