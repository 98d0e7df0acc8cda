// A SAML 2.0 service provider, written with node-saml: registered at Gatehouse by its metadata, and configured by the
// metadata of Gatehouse. Requests use the redirect binding, responses the POST binding; single logout works in both
// directions.

import { generateKeyPairSync } from 'node:crypto';
import { generateServiceProviderMetadata, type Profile, SAML, ValidateInResponseTo } from '@node-saml/node-saml';
import { selfSignedCertificate } from '../../../src/core/keys/certificate.ts';
import type { DemoApp, LogoutReporting } from '../app.ts';
import { html, page } from '../html.ts';
import { facts, noticeOf, problemPage, signedOutPage } from '../pages.ts';
import { createSessions } from '../sessions.ts';
import { type Answer, originOf, type Request, type Routes, serveSite } from '../web.ts';

const APP = { name: 'Demo SAML app', protocol: 'SAML 2.0' } as const;
const SESSION = 'demo_saml_session';

/** Creates the application on this port, with its own key. */
export async function samlApp(port: number): Promise<DemoApp> {
  const origin = originOf(port);
  const { privateKey, certificate } = await createCredential();
  const own = {
    issuer: `${origin}/metadata`, // its entity ID
    callbackUrl: `${origin}/acs`,
    logoutCallbackUrl: `${origin}/slo`,
    privateKey,
    publicCerts: [certificate],
    decryptionPvk: privateKey,
    decryptionCert: certificate,
    identifierFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
    wantAssertionsSigned: true,
  };
  const metadata = generateServiceProviderMetadata(own);
  return {
    ...APP,
    description: 'Shows the attributes of its signed and encrypted assertion, and signs you out.',
    origin,
    declaration: {
      section: 'service_providers',
      entry: {
        name: APP.name,
        metadata,
        attributes: { displayName: 'name', mail: 'email', role: 'roles' },
        idp_initiated: true, // may be opened from the app list
      },
    },
    async start(issuer, logoutReporting) {
      const saml = new SAML({
        ...own,
        ...(await identityProvider(issuer)),
        signatureAlgorithm: 'sha256',
        digestAlgorithm: 'sha256',
        wantAuthnResponseSigned: false, // the assertion is
        validateInResponseTo: ValidateInResponseTo.ifPresent, // absent when the app list opens it
        disableRequestedAuthnContext: true, // any way of signing in will do
      });
      const fromGatehouse = ['/acs', '/slo'];
      return serveSite(
        port,
        { ...routes(saml, logoutReporting), 'GET /metadata': () => ({ body: metadata, type: 'text/xml' }) },
        {
          fromGatehouse,
        },
      );
    },
  };
}

function routes(saml: SAML, logoutReporting: LogoutReporting): Routes {
  const sessions = createSessions<Session>();

  async function acs({ form }: Request): Promise<Answer> {
    try {
      const { profile } = await saml.validatePostResponseAsync(Object.fromEntries(await form()));
      if (!profile) return { body: signedOutPage(APP, 'You aren’t signed in to Gatehouse.') };
      return { redirect: '/', cookie: [SESSION, sessions.create({ profile, attributes: attributesOf(profile) })] };
    } catch (error) {
      return { status: 400, body: problemPage(APP, `The sign-in failed: ${reason(error)}`) };
    }
  }

  async function logout({ cookie }: Request): Promise<Answer> {
    // First here, then at Gatehouse: an error there must not leave this session active.
    const session = sessions.end(cookie(SESSION));
    if (!session) return { redirect: '/' };
    logoutReporting.steps.begin(APP.name, 'Ended its session, and sent the browser to Gatehouse with a LogoutRequest.');
    return { redirect: await saml.getLogoutUrlAsync(session.profile, '', {}), cookie: [SESSION, ''] };
  }

  /** Handles a LogoutRequest or LogoutResponse of Gatehouse. */
  async function slo({ form }: Request): Promise<Answer> {
    const message = Object.fromEntries(await form());
    try {
      if (message.SAMLResponse) {
        await saml.validatePostResponseAsync(message);
        return { redirect: '/signed-out' };
      }
      const { profile: meant } = await saml.validatePostRequestAsync(message);
      if (!meant) return { status: 400, body: problemPage(APP, 'The request from Gatehouse names no user.') };
      const ended = sessions.endThose(
        ({ profile }) => profile.nameID === meant.nameID && profile.sessionIndex === meant.sessionIndex,
      );
      if (ended > 0)
        logoutReporting.steps.add(APP.name, 'Ended its session: the browser brought a LogoutRequest of Gatehouse.');
      return { redirect: await saml.getLogoutResponseUrlAsync(meant, message.RelayState ?? '', {}, true) };
    } catch (error) {
      return { status: 400, body: problemPage(APP, `The sign-out failed: ${reason(error)}`) };
    }
  }

  return {
    'GET /': ({ cookie }) => {
      const session = sessions.find(cookie(SESSION));
      if (session) return { body: signedInPage(APP.name, session) };
      const wasEnded = sessions.wasEndedFromOutside(cookie(SESSION));
      return { body: signedOutPage(APP, wasEnded ? 'Gatehouse ended your session here.' : undefined) };
    },
    'GET /sign-in': async () => ({ redirect: await saml.getAuthorizeUrlAsync('', undefined, {}) }),
    'POST /acs': acs,
    'POST /sign-out': logout,
    'POST /slo': slo,
    'GET /signed-out': () => ({
      body: signedOutPage(APP, 'You’re signed out here and at Gatehouse.', logoutReporting.pageUrl),
    }),
  };
}

function attributesOf({ attributes }: Profile): Record<string, string[]> {
  const stated = Object.entries(typeof attributes === 'object' && attributes !== null ? attributes : {});
  return Object.fromEntries(
    stated.map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : [String(value)]]),
  );
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** A fresh RSA key with a certificate for a day, both as PEM. */
async function createCredential(): Promise<{ privateKey: string; certificate: string }> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const now = Date.now();
  const [from, until] = [new Date(now), new Date(now + DAY_MS)];
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: await selfSignedCertificate({ privateKey, publicKey, host: 'demo-saml-app', from, until }),
  };
}

// Reads the metadata of Gatehouse into settings of node-saml, which does not read metadata itself. The document comes from
// a known server on this machine, so regular expressions are enough.

interface IdentityProvider {
  idpIssuer: string;
  idpCert: string[];
  entryPoint: string;
  logoutUrl: string;
}

/** Reads `$ISSUER/saml/metadata`. */
async function identityProvider(issuer: string): Promise<IdentityProvider> {
  const xml = await (await fetch(`${issuer}/saml/metadata`)).text();
  const byRedirect = (service: string) => first(xml, `<md:${service} Binding="[^"]+:HTTP-Redirect" Location="([^"]+)"`);
  return {
    idpIssuer: first(xml, 'entityID="([^"]+)"'),
    idpCert: [...xml.matchAll(/<ds:X509Certificate>([^<]+)</g)].map((match) => match[1] ?? ''),
    entryPoint: byRedirect('SingleSignOnService'),
    logoutUrl: byRedirect('SingleLogoutService'),
  };
}

function first(xml: string, pattern: string): string {
  const found = new RegExp(pattern).exec(xml)?.[1];
  if (found === undefined) throw new Error(`The metadata of Gatehouse has no ${pattern}.`);
  return found;
}

interface Session {
  profile: Profile;
  /** Attribute name -> its values. */
  attributes: Record<string, string[]>;
}

/** The content of the assertion. */
function signedInPage(appName: string, { profile, attributes }: Session, notice?: string): string {
  const name = attributes.displayName?.[0] ?? profile.nameID;
  const values = Object.entries(attributes).map(([attribute, all]) => [attribute, all.join(', ')]);
  return page(
    `${name} · ${appName}`,
    html`
<p class="eyebrow">${appName}</p>
<h1>Hello, ${name}</h1>
${noticeOf(notice)}
<p class="lead">Gatehouse sent this application an assertion about you, which only this application can read.</p>
<form class="actions" method="post" action="/sign-out">
<button class="button primary">Sign out everywhere</button>
</form>
<section aria-labelledby="attributes">
<h2 id="attributes">Attributes</h2>
${facts(Object.fromEntries(values))}
</section>
<section aria-labelledby="subject">
<h2 id="subject">Subject and session</h2>
${facts({
  NameID: profile.nameID,
  'NameID format': profile.nameIDFormat,
  SessionIndex: profile.sessionIndex ?? 'none',
  Issuer: profile.issuer,
})}
</section>`,
  );
}
