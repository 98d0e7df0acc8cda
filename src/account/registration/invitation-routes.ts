// /invitation: the owner of an account that an administrator created chooses its first password.

import Router from '@koa/router';
import type { Extras, State } from '../../base/http/context.ts';
import { t } from '../../base/texts/text.ts';
import type { OtherSignIns } from '../../federation/other-sign-ins.ts';
import { addNewPasswordRoutes, type NewPasswordRoutesDependencies } from '../mailed-links/new-password-routes.ts';
import type { Invitations } from './invitation.ts';

export interface InvitationRoutesDependencies extends NewPasswordRoutesDependencies {
  invitations: Invitations;
  otherSignIns: OtherSignIns;
}

export function invitationRoutes(dependencies: InvitationRoutesDependencies): Router<State, Extras> {
  const { invitations, otherSignIns } = dependencies;
  const router = new Router<State, Extras>();

  addNewPasswordRoutes(router, dependencies, {
    path: '/invitation',
    texts: {
      title: t('invitation.title'),
      lead: t('invitation.lead'),
    },
    find: invitations.find,
    otherSignIn: async (account) => (await otherSignIns(account))[0],
    setPassword: invitations.accept,
    // No account has a second factor before its first password.
    hasSecondFactor: async () => false,
    doneMessage: () => ({
      title: t('invitation.done'),
      lead: t('invitation.done-lead'),
      next: { href: '/account', label: t('sign-in.title') },
    }),
  });

  return router;
}
