// What a new installation still needs, at the top of the overview until all of it is done.
import type { Config } from '../../config.ts';
import type { AccountFactors } from '../../mfa/account-factors.ts';
import type { Need } from '../../rbac/rights.ts';
import { HOW_TO_SET_THE_ADDRESS } from '../applications/tabs/setup-guide.ts';
import type { Block, Step } from '../console/blocks.ts';
import type { Statistics } from './statistics.ts';

export interface FirstStepsDependencies {
  config: Pick<Config, 'smtpUrl' | 'loopback' | 'issuer'>;
  factors: Pick<AccountFactors, 'hasSecondFactor'>;
}

/** Returns the function that makes the checklist for one administrator; no block when nothing is left to do. */
export function createFirstSteps({ config, factors }: FirstStepsDependencies) {
  return async function firstSteps(
    userId: string,
    { users, applications }: Pick<Statistics, 'users' | 'applications'>,
    may: (need: Need) => boolean,
  ): Promise<Block[]> {
    const steps: Step[] = [
      {
        title: 'Protect your account',
        text: 'Add a passkey or an authenticator app, and save your recovery codes.',
        isDone: await factors.hasSecondFactor(userId),
        action: { label: 'Set up', of: 'two-step verification', href: '/account/factors' },
      },
      {
        title: 'Choose the server’s address',
        text: `People and applications use it. Right now it is ${config.issuer}, which works only on this machine. ${HOW_TO_SET_THE_ADDRESS}`,
        isDone: !config.loopback,
      },
      {
        title: 'Connect an email server',
        text: 'Invitations and password resets need it. Set SMTP_URL and restart. Until then, Gatehouse writes email to files.',
        isDone: config.smtpUrl !== undefined,
        ...(may('gatehouse.mail:read') && { action: { label: 'Open email', href: '/admin/mail' } }),
      },
      {
        title: 'Add your first application',
        text: 'Choose a product from the list and copy the values into it.',
        isDone: applications.oidc + applications.saml > 0,
        ...(may('gatehouse.applications:write') && {
          action: { label: 'Add application', href: '/admin/applications/new' },
        }),
      },
      {
        title: 'Invite people',
        text: 'Add a user with a role, or import a list.',
        isDone: users.total > 1,
        ...(may('gatehouse.users:write') && { action: { label: 'Add user', href: '/admin/users/new' } }),
      },
    ];
    const done = steps.filter(({ isDone }) => isDone).length;
    if (done === steps.length) return [];
    return [{ kind: 'steps', title: 'First steps', lead: `${done} of ${steps.length} done.`, steps }];
  };
}
