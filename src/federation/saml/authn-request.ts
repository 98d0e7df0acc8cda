// The AuthnRequest to an upstream (SAML Core 3.4.1, Profiles 4.1.4.1). Pure.
import type { SamlSettings } from '../../connections/kinds/saml.ts';
import { bindings, nameIdFormats } from '../../saml/xml/names.ts';
import { element, samlTime, type XmlElement } from '../../saml/xml/write.ts';
import type { UpstreamRequirements } from '../upstream.ts';

export interface AuthnRequestInput {
  id: string;
  issuer: string;
  destination: string;
  acsUrl: string;
  now: Date;
  settings: Pick<SamlSettings, 'name_id_format' | 'subject_attribute' | 'request_authn_context'>;
  requirements: UpstreamRequirements;
}

/** The unsigned element. */
export function authnRequest(input: AuthnRequestInput): XmlElement {
  const { settings, requirements } = input;
  // SAML has no max_age, so an application that limits the age gets a new authentication.
  const isForced = requirements.forced || requirements.maxAgeSeconds !== undefined;
  return element(
    'samlp:AuthnRequest',
    {
      AssertionConsumerServiceURL: input.acsUrl,
      Destination: input.destination,
      ForceAuthn: isForced ? 'true' : undefined,
      ID: input.id,
      IssueInstant: samlTime(input.now),
      ProtocolBinding: bindings.post,
      Version: '2.0',
    },
    element('saml:Issuer', {}, input.issuer),
    nameIdPolicy(settings),
    settings.request_authn_context ? requestedContext(requirements.acrValues) : undefined,
  );
}

/** Where an attribute identifies the user, the upstream chooses the NameID unless the connection names a format. */
function nameIdPolicy({ name_id_format, subject_attribute }: AuthnRequestInput['settings']): XmlElement | undefined {
  const format = name_id_format ?? (subject_attribute === undefined ? 'persistent' : undefined);
  if (format === undefined) return undefined;
  return element('samlp:NameIDPolicy', { AllowCreate: 'true', Format: nameIdFormats[format] });
}

function requestedContext(classes: readonly string[]): XmlElement | undefined {
  if (classes.length === 0) return undefined;
  const names = classes.map((name) => element('saml:AuthnContextClassRef', {}, name));
  return element('samlp:RequestedAuthnContext', { Comparison: 'exact' }, ...names);
}
