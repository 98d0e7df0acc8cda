// The addresses of the suggestions of a field with autocomplete (admin/suggestions/console.ts).

export const SUGGEST = '/admin/suggest';

/** What a field suggests: users by username, applications by client ID or entity ID, roles and groups by name, types of events and patterns of them. */
export type SuggestionKind = 'users' | 'applications' | 'roles' | 'groups' | 'event-types';

/** What opens the access check, whose fields have suggestions. */
export const ACCESS_CHECK_NEEDS = ['gatehouse.audit:read', 'gatehouse.users:read'] as const;
