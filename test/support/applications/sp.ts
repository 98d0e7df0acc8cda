// Service providers made by another library, node-saml, and configured from an exchange of metadata alone.
import { type Profile, SAML, type SamlConfig } from '@node-saml/node-saml';
import { serviceProvider, settingsOf } from '../../../src/applications/fields/service-provider.ts';
import type { Services } from '../../../src/server/services.ts';
import { aCredential, type Credential } from '../../saml/support.ts';
import { httpClient } from '../http.ts';

export interface TestServiceProvider {
  saml: SAML;
  entityId: string;
  acsUrl: string;
  credential: Credential;
  /** What the library reads from the form that the server's page posts; throws when it does not accept it. */
  accept(fields: Record<string, string>): Promise<Profile>;
}

export interface ServiceProviderOptions {
  entityId?: string;
  /** Settings of the application, as in the configuration file. */
  settings?: Partial<Parameters<typeof serviceProvider.parse>[0] & object>;
  /** Settings of node-saml. */
  library?: Partial<SamlConfig>;
  origin?: string;
}

let count = 0;

/** Registers a node-saml service provider by its own metadata, and configures it from that of the server. */
export async function aServiceProvider(
  { applications, config }: Services,
  { entityId, settings = {}, library = {}, origin = 'http://127.0.0.1:4100' }: ServiceProviderOptions = {},
): Promise<TestServiceProvider> {
  count += 1;
  const id = entityId ?? `https://sp${count}.example/metadata`;
  const acsUrl = `${origin}/acs/${count}`;
  const credential = aCredential();
  const metadata = (await httpClient().get(`${config.issuer}/saml/metadata`)).text;
  const idpCert = [...metadata.matchAll(/<ds:X509Certificate>([^<]+)</g)].map((match) => match[1] ?? '');
  const saml = new SAML({
    idpCert,
    issuer: id,
    callbackUrl: acsUrl,
    entryPoint: `${config.issuer}/saml/sso`,
    logoutUrl: `${config.issuer}/saml/slo`,
    logoutCallbackUrl: `${origin}/slo/${count}`,
    idpIssuer: `${config.issuer}/saml/metadata`,
    privateKey: credential.privatePem,
    publicCert: credential.certificatePem,
    signatureAlgorithm: 'sha256',
    digestAlgorithm: 'sha256',
    wantAssertionsSigned: true,
    wantAuthnResponseSigned: false,
    validateInResponseTo: 'always' as SamlConfig['validateInResponseTo'],
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    ...library,
  });
  const xml = saml.generateServiceProviderMetadata(null, credential.certificatePem);
  const entry = serviceProvider.parse({ name: `Wiki ${count}`, metadata: xml, ...settings });
  await applications.createSaml({ ...entry, entityId: id, settings: settingsOf(entry, xml) });
  return {
    saml,
    entityId: id,
    acsUrl,
    credential,
    async accept(fields) {
      const { profile } = await saml.validatePostResponseAsync(fields);
      if (!profile) throw new Error('node-saml found no profile in the answer');
      return profile;
    },
  };
}
