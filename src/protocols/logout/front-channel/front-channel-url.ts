// The URL of OIDC front-channel logout for one application (OIDC Front-Channel Logout 1.0 section 2).
import type { Applications } from '../../../applications/applications.ts';
import type { Participant } from '../logout-run.ts';

/** With `iss` and `sid`, unless the application wants neither; undefined when the application is disabled or has no front-channel logout (any more). */
export type FrontChannelUrl = (participant: Participant) => Promise<string | undefined>;

export function createFrontChannelUrl({
  issuer,
  applications,
}: {
  issuer: string;
  applications: Applications;
}): FrontChannelUrl {
  return async ({ clientId, data }) => {
    const application = await applications.find(clientId);
    if (!application?.enabled || application.protocol !== 'oidc') return undefined;
    const { frontchannel_logout_uri: uri, frontchannel_logout_session_required: names } = application.metadata;
    if (!uri) return undefined;
    const url = new URL(uri);
    // They come together: a sid is unique for its issuer only.
    if (names !== false && data.sid) {
      url.searchParams.set('iss', issuer);
      url.searchParams.set('sid', data.sid);
    }
    return url.href;
  };
}
