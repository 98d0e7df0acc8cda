// What the parts of a single logout share.

import type { ApplicationServices } from '../../applications/application-services.ts';
import type { Http } from '../../base/http/http.ts';
import type { Core } from '../../core/core.ts';
import type { People } from '../../people/people.ts';
import type { SamlServices } from '../saml/sso/saml-services.ts';
import type { OutgoingSamlMessages } from './saml/outgoing-messages.ts';
import type { SessionServices } from './session-services.ts';
import type { UpstreamParticipants } from './upstream.ts';

export type LogoutServices = Core &
  Http &
  People &
  ApplicationServices &
  SessionServices &
  SamlServices & { upstreams: UpstreamParticipants; outgoingMessages: OutgoingSamlMessages };
