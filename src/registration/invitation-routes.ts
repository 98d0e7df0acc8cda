// /invitation: the owner of an account that an administrator created chooses its first password.
import Router from '@koa/router';
import type { OtherSignIns } from '../federation/other-sign-ins.ts';
import type { Extras, State } from '../http/context.ts';
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
      title: 'Choose a password',
      lead: 'Your account is ready. Choose a password to sign in with.',
    },
    find: invitations.find,
    otherSignIn: async (account) => (await otherSignIns(account))[0],
    setPassword: invitations.accept,
    // No account has a second factor before its first password.
    hasSecondFactor: async () => false,
    doneMessage: () => ({
      title: 'Welcome',
      lead: 'Your password is set. You can sign in now.',
      next: { href: '/account', label: 'Sign in' },
    }),
  });

  return router;
}
