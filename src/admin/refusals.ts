// A refusal explained: every rule in order, the first that failed, and what mends it where mending is safe. A mend is the
// same change that an administrator would make by hand, so it is permitted and audited like that.
import type { Accounts } from '../accounts/accounts.ts';
import type { Application, SamlApplication } from '../applications/application.ts';
import type { Applications } from '../applications/applications.ts';
import type { By } from '../audit/audit.ts';
import { conflict, notFound } from '../http/errors.ts';
import type { Refusal, Refusals } from '../refusals/refusals.ts';
import type { ApplicationAdmin } from './applications.ts';
import { type About, fingerprint, type RuleFacts } from './refusal-facts.ts';
import { failedRule, rulesOf } from './refusal-rules.ts';
import type { UserAdmin } from './users.ts';

export interface ExplainedRule extends RuleFacts {
  state: 'passed' | 'failed' | 'unknown';
}

export interface Explanation {
  refusal: Refusal;
  application: Application | undefined;
  person: { id: string; username: string } | undefined;
  rules: ExplainedRule[];
  /** Whether the rule that failed would pass now. */
  isMended: boolean;
  mends: Mend[];
  /** Why there is no button, or what the button cannot know. */
  note?: string | undefined;
}

export interface Mend {
  id: string;
  label: string;
  /** What it changes: whoever may not change that, may not mend. */
  needs: 'gatehouse.applications:write' | 'gatehouse.roles:write';
}

export interface RefusalAdmin {
  list: Refusals['list'];
  explain(code: string): Promise<Explanation>;
  /** Throws conflict when there is nothing like that to mend any more, or nothing changed. */
  mend(code: string, id: string, by: By): Promise<Explanation>;
}

export interface RefusalAdminNeeds {
  refusals: Pick<Refusals, 'find' | 'list'>;
  accounts: Pick<Accounts, 'find'>;
  applications: Pick<Applications, 'find'>;
  applicationAdmin: Pick<ApplicationAdmin, 'update' | 'setEnabled' | 'readMetadataAgain'>;
  userAdmin: Pick<UserAdmin, 'setRoles'>;
  /** ACS addresses and signing certificates of a service provider, from its metadata or by hand. */
  samlSide(entityId: string): Promise<{ acsUrls: string[]; certificates: string[] }>;
  scopesKnown: readonly string[];
}

type Doing = Mend & { act(by: By): Promise<unknown> };

export function createRefusalAdmin(needs: RefusalAdminNeeds): RefusalAdmin {
  const { refusals, accounts, applications, applicationAdmin, userAdmin, samlSide, scopesKnown } = needs;

  async function aboutOf(code: string): Promise<About> {
    const refusal = await refusals.find(code);
    if (!refusal) throw notFound({ message: 'There is no refusal under this code, or it is older than two weeks.' });
    const [application, person] = await Promise.all([
      refusal.clientId === undefined ? undefined : applications.find(refusal.clientId),
      refusal.subjectId === undefined ? undefined : accounts.find(refusal.subjectId),
    ]);
    const side =
      application?.protocol === 'saml' ? await samlSide(application.clientId) : { acsUrls: [], certificates: [] };
    return { refusal, application, person, scopesKnown, ...side };
  }

  function mendsFor(failed: string, about: About): Doing[] {
    const { application, person, refusal } = about;
    if (!application || application.source === 'file') return [];
    const { id } = application;
    const { received } = refusal;
    const change = (mend: string, label: string, patch: Record<string, unknown>): Doing[] => [
      { id: mend, label, needs: 'gatehouse.applications:write', act: (by) => applicationAdmin.update(id, patch, by) },
    ];
    if (failed === 'client' && !application.enabled)
      return [
        {
          id: 'enable',
          label: `Enable ${application.name}`,
          needs: 'gatehouse.applications:write',
          act: (by) => applicationAdmin.setEnabled(id, true, by),
        },
      ];
    if (failed === 'access' && person && application.access !== 'everyone') {
      return application.access.roles.slice(0, 5).map((role) => ({
        id: `role ${role}`,
        label: `Give ${person.username} the role ${role}`,
        needs: 'gatehouse.roles:write',
        act: (by) => userAdmin.setRoles(person.id, [...person.roles, role], by),
      }));
    }
    return application.protocol === 'oidc'
      ? oidcMends(failed, application.metadata, received, change)
      : isOfMetadata(failed, application)
        ? metadataMends(application)
        : samlMends(failed, about, application.metadata, change);
  }

  function metadataMends({ id, metadata: { metadata_url } }: SamlApplication): Doing[] {
    if (metadata_url === undefined) return [];
    return [
      {
        id: 'metadata',
        label: 'Read its metadata again now',
        needs: 'gatehouse.applications:write',
        act: (by) => applicationAdmin.readMetadataAgain(id, by),
      },
    ];
  }

  async function explained(about: About): Promise<{ explanation: Explanation; doings: Doing[] }> {
    const { refusal, application, person } = about;
    const failed = failedRule(refusal);
    const facts = rulesOf(about);
    const at = facts.findIndex(({ id }) => id === failed);
    const rules = facts.map(
      (rule, index): ExplainedRule => ({
        ...rule,
        state: index === at ? 'failed' : index < at ? 'passed' : 'unknown',
      }),
    );
    const isMended = rules[at]?.passesNow === true;
    const doings = isMended ? [] : mendsFor(failed, about);
    const mends = doings.map(({ id, label, needs: needed }) => ({ id, label, needs: needed }));
    return {
      doings,
      explanation: {
        refusal,
        application,
        person: person && { id: person.id, username: person.username },
        rules,
        isMended,
        mends,
        note: isMended ? undefined : noteOf(failed, application),
      },
    };
  }

  return {
    list: refusals.list,
    explain: async (code) => (await explained(await aboutOf(code))).explanation,

    async mend(code, id, by) {
      const { doings } = await explained(await aboutOf(code));
      const doing = doings.find((one) => one.id === id);
      if (!doing) throw conflict('conflict', { message: 'There is nothing like that to mend any more.' });
      await doing.act(by);
      return (await explained(await aboutOf(code))).explanation;
    },
  };
}

type Change = (mend: string, label: string, patch: Record<string, unknown>) => Doing[];

function oidcMends(
  failed: string,
  metadata: (Application & { protocol: 'oidc' })['metadata'],
  received: Record<string, string>,
  change: Change,
): Doing[] {
  const { redirect_uri, post_logout_redirect_uri, grant_type, scope = '', resource } = received;
  if (failed === 'redirect_uri' && redirect_uri)
    return change('redirect-uri', 'Add this redirect URI', {
      redirect_uris: [...metadata.redirect_uris, redirect_uri],
    });
  if (failed === 'post_logout_redirect_uri' && post_logout_redirect_uri)
    return change('post-logout-redirect-uri', 'Add this post-logout redirect URI', {
      post_logout_redirect_uris: [...(metadata.post_logout_redirect_uris ?? []), post_logout_redirect_uri],
    });
  if (failed === 'grant' && grant_type)
    return change('grant', `Allow the grant ${grant_type}`, { grant_types: [...metadata.grant_types, grant_type] });
  if (failed === 'scope' && metadata.scope) {
    const wanted = [...new Set([...metadata.scope.split(' '), ...scope.split(' ')])].filter(Boolean);
    return change('scope', 'Allow these scopes', { scope: wanted.join(' ') });
  }
  if (failed === 'resource' && resource && metadata.resources)
    return change('resource', 'Let it ask for this API', { resources: [...metadata.resources, resource] });
  return [];
}

/** What metadata says is mended by new metadata: the next look at it would undo anything else. */
function isOfMetadata(failed: string, { metadata }: SamlApplication): boolean {
  return ['acs', 'certificate'].includes(failed) && metadata.acs === undefined;
}

function noteOf(failed: string, application: Application | undefined): string | undefined {
  if (application?.protocol !== 'saml' || application.source === 'file' || !isOfMetadata(failed, application))
    return undefined;
  const what =
    failed === 'acs' ? 'which addresses answers may go to' : 'which certificates its requests may be signed with';
  const { metadata_url } = application.metadata;
  return metadata_url === undefined
    ? `${application.name} is registered by metadata that was pasted, and that says ${what}. So nothing is added here by itself: paste the new metadata of the application.`
    : `${application.name} is registered by its metadata at ${metadata_url}, which says ${what} and is read again each day. So nothing is added here by itself: the application has to publish it there, and then it can be read at once.`;
}

function samlMends(
  failed: string,
  { refusal, certificates }: About,
  metadata: SamlApplication['metadata'],
  change: Change,
): Doing[] {
  const { AssertionConsumerServiceURL: acs, certificate, NameIDPolicy = '' } = refusal.received;
  const format = NameIDPolicy.split(':').at(-1) ?? '';
  if (failed === 'name_id' && ['persistent', 'transient', 'emailAddress', 'unspecified'].includes(format))
    return change('name-id', `Give it ${format} identifiers`, { name_id_format: format });
  if (failed === 'acs' && acs)
    return change('acs', 'Add this ACS URL', { acs_url: [...(metadata.acs ?? []).map(({ url }) => url), acs] });
  if (
    failed === 'certificate' &&
    certificate &&
    !certificates.some((one) => fingerprint(one) === fingerprint(certificate))
  )
    return change('certificate', 'Add this certificate', {
      certificates: [...(metadata.certificates ?? []), { use: 'signing', pem: certificate }],
    });
  return [];
}
