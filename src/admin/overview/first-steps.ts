// What a new installation still needs, at the top of the overview until all of it is done.

import { sentences, t } from '../../base/texts/text.ts';
import { hasSecondFactor } from '../../people/mfa/policy.ts';
import type { Need } from '../../people/rbac/rights.ts';
import { HOW_TO_SET_THE_ADDRESS } from '../applications/tabs/setup-guide.ts';
import type { Block, Step } from '../console/blocks.ts';
import type { ConsoleServices } from '../console-services.ts';
import type { Statistics } from './statistics.ts';

/** Returns the function that makes the checklist for one administrator; no block when nothing is left to do. */
export function createFirstSteps({ config, mfa: { factors } }: ConsoleServices) {
  return async function firstSteps(
    userId: string,
    { users, applications }: Pick<Statistics, 'users' | 'applications'>,
    may: (need: Need) => boolean,
  ): Promise<Block[]> {
    const own = await factors.of(userId);
    const isProtected = hasSecondFactor(own) || own.phone !== undefined;
    const all = stepsOf({ config, isProtected, users, applications, may });
    // Only what this administrator may do.
    const steps = all.flatMap(({ isAllowed, ...step }) => (isAllowed ? [step] : []));
    const done = steps.filter(({ isDone }) => isDone).length;
    if (done === steps.length) return [];
    return [
      {
        kind: 'steps',
        title: t('console.overview.first-steps'),
        lead: t('console.overview.first-steps-done', { done, total: steps.length }),
        steps,
      },
    ];
  };
}

interface Situation extends Pick<Statistics, 'users' | 'applications'> {
  config: ConsoleServices['config'];
  /** Whether the administrator has a second factor. */
  isProtected: boolean;
  may(need: Need): boolean;
}

function stepsOf({ config, isProtected, users, applications, may }: Situation): (Step & { isAllowed: boolean })[] {
  return [
    {
      isAllowed: true,
      title: t('console.overview.step.protect'),
      text: t('console.overview.step.protect-text'),
      isDone: isProtected,
      action: {
        label: t('console.overview.step.protect-action'),
        of: t('console.overview.step.protect-action-of'),
        href: '/account/factors',
      },
    },
    {
      isAllowed: may('gatehouse.settings:write'),
      title: t('console.overview.step.address'),
      text: sentences([t('console.overview.step.address-text', { issuer: config.issuer }), HOW_TO_SET_THE_ADDRESS]),
      isDone: !config.loopback,
    },
    {
      isAllowed: may('gatehouse.settings:write'),
      title: t('console.overview.step.mail'),
      text: t('console.overview.step.mail-text'),
      isDone: config.smtpUrl !== undefined,
      ...(may('gatehouse.mail:read') && {
        action: { label: t('console.overview.step.mail-action'), href: '/admin/mail' },
      }),
    },
    {
      isAllowed: may('gatehouse.applications:write'),
      title: t('console.overview.step.application'),
      text: t('console.overview.step.application-text'),
      isDone: applications.oidc + applications.saml > 0,
      action: { label: t('console.overview.step.application-action'), href: '/admin/applications/new' },
    },
    {
      isAllowed: may('gatehouse.users:write'),
      title: t('console.overview.step.people'),
      text: t('console.overview.step.people-text'),
      isDone: users.total > 1,
      action: { label: t('console.overview.step.people-action'), href: '/admin/users/new' },
    },
  ];
}
