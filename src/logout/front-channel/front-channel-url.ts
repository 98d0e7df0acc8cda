// The URL of OIDC front-channel logout for one application (OIDC Front-Channel Logout 1.0 section 2).
import type { Applications } from '../../applications/applications.ts';
import type { Participant } from '../logout-run.ts';

/** With `iss` and `sid`; undefined when the application is disabled or has no front-channel logout (any more). */
export type FrontChannelUrl = (participant: Participant) => Promise<string | undefined>;

export function createFrontChannelUrl({
  issuer,
  applications,
}: {
  issuer: string;
  applications: Pick<Applications, 'find'>;
}): FrontChannelUrl {
  return async ({ clientId, data }) => {
    const application = await applications.find(clientId);
    if (!application?.enabled || application.protocol !== 'oidc') return undefined;
    const { frontchannel_logout_uri: uri } = application.metadata;
    if (!uri) return undefined;
    const url = new URL(uri);
    url.searchParams.set('iss', issuer);
    if (data.sid) url.searchParams.set('sid', data.sid);
    return url.href;
  };
}
