// What a page asks before people get a role with permissions in Gatehouse, directly or by a group.
import { nameAndUsername } from '../../base/http/pages/tokens.ts';
import { present } from '../../base/platform/defined.ts';
import { allOf, type PageText, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { ADMIN_ROLE } from '../../people/rbac/built-in.ts';
import type { NamedUser } from './names.ts';
import type { Question } from './pages.ts';

export interface NewAdministrators {
  /** The names of the roles. */
  roles: readonly string[];
  /** By which they get them; absent: directly. */
  group?: string;
  /** The first of them. */
  people: readonly NamedUser[];
  /** All of them, and whether they are more than were counted. */
  count: number;
  isMore?: boolean;
}

/** A role to assign, or a group to join. */
export interface RoleOrGroup {
  kind: 'role' | 'group';
  name: string;
}

interface Givers {
  roles: { isSensitive(name: string, by: Actor): Promise<boolean> };
  groups: {
    find(name: string): Promise<{ id: string } | undefined>;
    newAdministrators(
      id: string,
      change: { members: readonly string[] },
      by: Actor,
    ): Promise<NewAdministrators | undefined>;
  };
}

/** What is asked before this person gets it; undefined: nothing. Throws forbidden for what the actor may not give. */
export async function questionBefore(
  { kind, name }: RoleOrGroup,
  person: NamedUser & { id: string },
  { roles, groups }: Givers,
  by: Actor,
): Promise<Question | undefined> {
  if (kind === 'role')
    return (await roles.isSensitive(name, by))
      ? newAdministratorsQuestion({ roles: [name], people: [person], count: 1 })
      : undefined;
  const group = name === '' ? undefined : await groups.find(name);
  const given = group && (await groups.newAdministrators(group.id, { members: [person.id] }, by));
  return given && newAdministratorsQuestion(given);
}

export function newAdministratorsQuestion(given: NewAdministrators): Question {
  const { people, count } = given;
  const [first] = people;
  const who = count === 1 && first ? nameAndUsername(first) : numberOf(given);
  return {
    title: t('console.roles.new-administrators.title', { who }),
    lead: newAdministratorsText(given),
    button: t('console.roles.new-administrators.button'),
  };
}

/** The consequence as a sentence. */
export function newAdministratorsText({ roles, group = '', ...given }: NewAdministrators): PageText {
  const { people, count } = given;
  const others = count - people.length;
  const named = people.map(nameAndUsername);
  const who =
    named.length === 0
      ? numberOf(given)
      : allOf(present([...named, others > 0 && t('console.roles.new-administrators.others', { count: others })]));
  return t('console.roles.new-administrators.lead', {
    who,
    count,
    roles: allOf(roles),
    roleCount: roles.length,
    way: group === '' ? 'direct' : 'group',
    group,
    power: roles.includes(ADMIN_ROLE) ? 'all' : 'some',
  });
}

const numberOf = ({ count, isMore = false }: Pick<NewAdministrators, 'count' | 'isMore'>): PageText =>
  t('console.roles.new-administrators.people', { count, more: isMore ? 'yes' : 'no' });
