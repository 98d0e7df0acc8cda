// /api/groups: what the account page does for an owner of groups, for programs. Same functions, same limits.
import { z } from 'zod';
import type { ListedInvitation } from '../../people/groups/invitations.ts';
import type { GroupOwners, OwnedMember } from '../../people/groups/owners.ts';
import type { AdminServices } from '../admin-services.ts';
import { type Endpoint, endpoint, type Output, partsOf, type Request } from '../api/endpoint.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { byId, fromCursor, id, jsonOf, paged, pageOf, personFields, personJson, time, toCursor } from '../api/parts.ts';
import { assertVersion } from '../api/versions.ts';
import { decisionBody, decisionOf, moment, request, requestJson } from './groups.ts';

const group = z
  .object({
    id: z.string(),
    name: z.string(),
    path: z.string().describe('The names from the top: `/Science/Physics`'),
    description: z.string(),
  })
  .meta({ id: 'OwnedGroup' });
const member = z
  .object({
    ...personFields,
    since: time.nullable().describe('null: from the beginning'),
    until: time.nullable().describe('null: no end'),
    own: z
      .boolean()
      .describe('false: an owner cannot change it, because a connection or the configuration file gives it'),
  })
  .meta({ id: 'OwnedGroupMember' });
const invitation = z
  .object({
    id: z.string(),
    email: z.string(),
    until: time.nullable().describe('Of the membership'),
    state: z.enum(['open', 'accepted', 'expired']),
    expires_at: time,
  })
  .meta({ id: 'GroupInvitation' });

const memberJson = (one: OwnedMember): z.output<typeof member> =>
  jsonOf(member, one, { ...personJson(one.person), own: one.isOwn });

const invitationJson = (one: ListedInvitation): z.output<typeof invitation> => jsonOf(invitation, one, {});

type Call = Parameters<Endpoint['handle']>[0];
interface OwnCall extends Omit<Call, 'params' | 'query' | 'body'> {
  group: Awaited<ReturnType<GroupOwners['group']>>;
  params: { id: string; user: string; request: string; invitation: string };
}

/** The endpoints below /api/groups. */
export function ownerEndpoints({ groupInvitations, groupOwners, groupRequests }: AdminServices): Endpoint[] {
  const common = { api: 'owners', tag: 'Groups of an owner', needs: [] } as const;
  const userOf = ({ caller }: Pick<Call, 'caller'>) => caller.account?.id ?? '';

  /** Of one group, which the caller owns or one above it; not_found otherwise, as for a group that does not exist. */
  const ofGroup = <Query extends z.ZodObject | undefined = undefined, Body extends z.ZodType | undefined = undefined>(
    operationId: string,
    request: Request,
    {
      handle,
      ...description
    }: Pick<Endpoint, 'summary'> &
      Partial<Omit<Endpoint, 'handle' | 'body' | 'query'>> & {
        query?: Query;
        body?: Body;
        handle(call: OwnCall & { query: Output<Query>; body: Output<Body> }): ReturnType<Endpoint['handle']>;
      },
  ): Endpoint => ({
    ...common,
    params: byId,
    ...description,
    operationId,
    ...partsOf(request, '/{id}'),
    async handle(call) {
      const params = call.params as OwnCall['params'];
      const owned = await groupOwners.group(params.id, userOf(call));
      return handle({ ...call, params, group: owned } as Parameters<typeof handle>[0]);
    },
  });
  const byUser = byId.extend({ user: id });

  return [
    endpoint('listOwnedGroups', 'GET ', {
      ...common,
      summary: 'The groups that the user owns, and those below them, by name',
      query: z.object(paged),
      response: pageOf(group),
      async handle({ query: { limit, cursor }, caller }) {
        const { groups, next } = await groupOwners.groupsOf(userOf({ caller }), { after: fromCursor(cursor), limit });
        return { body: { items: groups.map((one) => group.parse(one)), next: toCursor(next) } };
      },
    }),
    ofGroup('getOwnedGroup', 'GET ', {
      summary: 'One of them',
      response: group,
      handle: async (call) => ({ body: group.parse(call.group) }),
    }),
    ofGroup('listOwnedGroupMembers', 'GET /members', {
      summary: 'The people directly in the group, by name',
      query: z.object(paged),
      response: pageOf(member),
      async handle({ group: { id: groupId }, query: { limit, cursor } }) {
        const { members, next } = await groupOwners.members(groupId, { after: fromCursor(cursor), limit });
        return { body: { items: members.map(memberJson), next: toCursor(next) } };
      },
    }),
    ofGroup('addOwnedGroupMember', 'POST /members', {
      summary: 'Adds the person with exactly this username or email address, or changes the end',
      description: 'The answer is the same for a name that nobody has. At most 30 a day, invitations included.',
      body: z.strictObject({ login: z.string().trim().min(1).max(254), until: moment.optional() }),
      status: 204,
      idempotent: true,
      async handle({ group: { id: groupId }, body: { login, until = null }, by, record }) {
        const onDone = (done: undefined, tx: Parameters<typeof record>[1]) => record({ body: done }, tx);
        await groupOwners.add(groupId, { login, until }, { by }, onDone);
        return undefined;
      },
    }),
    ofGroup('getOwnedGroupMember', 'GET /members/{user}', {
      summary: 'One person in the group',
      params: byUser,
      response: member,
      versioned: 'shows',
      async handle({ group: { id: groupId }, params }) {
        const body = memberJson(await groupOwners.member(groupId, params.user));
        return { body, version: body };
      },
    }),
    ofGroup('updateOwnedGroupMember', 'PATCH /members/{user}', {
      summary: 'Changes when the person leaves',
      params: byUser,
      body: z.strictObject({ until: moment }),
      response: member,
      versioned: 'changes',
      async handle({ group: { id: groupId }, params, body: { until }, by, version }) {
        const check = (before: OwnedMember) => assertVersion(version, memberJson(before));
        const body = memberJson(await groupOwners.setEnd(groupId, params.user, until, { by }, check));
        return { body, version: body };
      },
    }),
    ofGroup('removeOwnedGroupMember', 'DELETE /members/{user}', {
      summary: 'Takes a person out',
      description: 'What a connection or the configuration file gives stays.',
      params: byUser,
      status: 204,
      handle: async ({ group: { id: groupId }, params, by }) =>
        void (await groupOwners.remove(groupId, params.user, { by })),
    }),
    ofGroup('listOwnedGroupRequests', 'GET /requests', {
      summary: 'The open requests, the oldest first, up to 100',
      response: z.object({ items: z.array(request) }),
      async handle({ group: { id: groupId } }) {
        const items = (await groupRequests.openFor([groupId])).map(requestJson);
        return { body: { items } };
      },
    }),
    ofGroup('decideGroupRequest', 'POST /requests/{request}/decision', {
      summary: 'Approves or declines a request; the person gets an email',
      params: byId.extend({ request: id }),
      body: decisionBody,
      status: 204,
      handle: async ({ group: { id: groupId }, params, body, by }) =>
        void (await groupRequests.decide(params.request, { ...decisionOf(body), groupId }, { by })),
    }),
    ofGroup('listGroupInvitations', 'GET /invitations', {
      summary: 'The invitations of the last month, the latest first, up to 100',
      response: z.object({ items: z.array(invitation) }),
      handle: async ({ group: { id: groupId } }) => ({
        body: { items: (await groupInvitations.of(groupId)).map(invitationJson) },
      }),
    }),
    ofGroup('inviteToGroup', 'POST /invitations', {
      summary: 'Sends an invitation, whether or not the address has an account',
      description: 'A further invitation to the same address replaces the one before. At most 20 are open.',
      body: z.strictObject({ email: z.string().trim().min(1).max(254), until: moment.optional() }),
      response: invitation,
      status: 201,
      idempotent: true,
      async handle({ group: { id: groupId }, body: { email, until = null }, by, record }) {
        const answer = (made: ListedInvitation) => ({
          body: invitationJson(made),
          location: `/${groupId}/invitations/${made.id}`,
        });
        const onCreated: OnCreated<ListedInvitation> = (made, tx) => record(answer(made), tx);
        return answer(await groupInvitations.invite({ groupId, email, until }, { by }, onCreated));
      },
    }),
    ofGroup('withdrawGroupInvitation', 'DELETE /invitations/{invitation}', {
      summary: 'Withdraws an open invitation',
      params: byId.extend({ invitation: id }),
      status: 204,
      handle: async ({ group: { id: groupId }, params, by }) =>
        void (await groupInvitations.withdraw(params.invitation, groupId, { by })),
    }),
  ];
}
