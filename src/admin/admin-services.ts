// What the actions of administration are created with. They check the rights of the actor; pages and endpoints get the actions
// (`ConsoleServices`), not these services.
import type { AccountPageHelpers } from '../account/account-page-helpers.ts';
import type { OwnData } from '../account/own-data.ts';
import type { PasswordReset } from '../account/recovery.ts';
import type { Invitations } from '../account/registration/invitation.ts';
import type { Confirmation } from '../account/rp/confirmation.ts';
import type { ApplicationServices } from '../applications/application-services.ts';
import type { Http } from '../base/http/http.ts';
import type { ConfigFile } from '../config-file/config-file.ts';
import type { FileReader } from '../config-file/file-reader.ts';
import type { Core } from '../core/core.ts';
import type { Federation } from '../federation/create-federation.ts';
import type { FederationServices } from '../federation/federation-services.ts';
import type { Inactivity } from '../people/accounts/inactivity.ts';
import type { People } from '../people/people.ts';
import type { EventStreams } from '../protocols/event-streams/streams.ts';
import type { ForwardAuth } from '../protocols/forward-auth/forward-auth.ts';
import type { SessionServices } from '../protocols/logout/session-services.ts';
import type { Oidc } from '../protocols/oidc/create-oidc.ts';
import type { Provisioning } from '../protocols/provisioning/provisioning.ts';
import type { FetchMetadata } from '../protocols/saml/metadata/fetch.ts';
import type { Saml } from '../protocols/saml/routes.ts';
import type { ScimConnections } from '../protocols/scim/connections.ts';
import type { SignInPolicy } from '../sign-in/sign-in-policy.ts';

/** For the actions of users, which the command line has too. */
export type UserServices = Core &
  People &
  ApplicationServices &
  SessionServices &
  FederationServices & {
    inactivity: Inactivity;
    ownData: OwnData;
    recovery: { passwordReset: PasswordReset };
    registration: { invitations: Invitations };
  };

export type AdminServices = UserServices &
  Http & {
    fetchMetadata: FetchMetadata;
    signInPolicy: SignInPolicy;
    configFile: ConfigFile;
    fileReader: FileReader;
    oidc: Oidc;
    saml: Saml;
    account: { page: AccountPageHelpers };
    rp: { confirmation: Confirmation };
    federation: Federation;
    forwardAuth: ForwardAuth;
    scimConnections: ScimConnections;
    eventStreams: EventStreams;
    provisioning: Provisioning;
  };
