// What the pages of a sign-in are created with: the services below, and what the composition root passes in.
import type { Client, Interaction, InteractionResults } from 'oidc-provider';
import type { ApplicationServices } from '../applications/application-services.ts';
import type { Context } from '../base/http/context.ts';
import type { Http } from '../base/http/http.ts';
import type { PageText } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';
import type { People } from '../people/people.ts';
import type { SessionServices } from '../protocols/logout/session-services.ts';
import type { SamlRequirements } from '../protocols/oidc/engine/saml-requirements.ts';
import type { ClientSource } from '../protocols/oidc/store/clients.ts';
import type { Attempt } from './attempts.ts';
import type { DirectorySignIns, UpstreamSignIns } from './first-factor/upstream.ts';
import type { RecoveryCodesPages } from './second-factor/recovery-codes-page.ts';
import type { SignInPolicy } from './sign-in-policy.ts';

/** The part of oidc-provider that the sign-in pages use. */
export interface InteractionEngine {
  cookieName(type: 'interaction'): string;
  Interaction: { find(uid: string): Promise<Interaction | undefined> };
  /** The session of the browser; a new one when it has none. */
  Session: { get(ctx: Context): Promise<{ uid: string; accountId?: string | undefined }> };
  interactionResult(
    req: Context['req'],
    res: Context['res'],
    result: InteractionResults,
    options: { mergeWithLastSubmission: boolean },
  ): Promise<string>;
}

export type SignInServices = Core &
  Http &
  People &
  ApplicationServices &
  SessionServices & {
    /** The name of a SAML application in the language of the page. */
    serviceProviderTitle(entityId: string): Promise<PageText | undefined>;
    clients: ClientSource;
    engine(): InteractionEngine & { Client: { find(clientId: string): Promise<Client | undefined> } };
    /** The client that Gatehouse's own pages sign in with. */
    ownClientId: string;
    /** What the SAML request behind an authorization request asks for; nothing for OpenID Connect. */
    samlRequirements(ctx: Context, params: Record<string, unknown>): Promise<SamlRequirements>;
    signInPolicy: SignInPolicy;
    upstream: UpstreamSignIns;
    directories: DirectorySignIns;
    recoveryCodesPages: RecoveryCodesPages;
    /** The account of an invitation that is open in this browser. */
    invitedId(ctx: Context): Promise<string | undefined>;
    /** Uses up the sign-in of an invitation that was accepted in this browser a moment ago. */
    takeAccepted(ctx: Context): Promise<(Pick<Attempt, 'amr' | 'passwordSetAt'> & { userId: string }) | undefined>;
  };
