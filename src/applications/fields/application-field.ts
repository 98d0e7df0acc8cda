// What is known about a field of an application beside its schema: the console's forms, the rights, the registration by programs and the
// documents follow from it. A field without a description stops the program at its start.
import { z } from 'zod';
import { defined } from '../../base/platform/defined.ts';
import { type DescribedField, describedFields } from '../../base/platform/described-fields.ts';

/** The parts of the console's forms (admin/applications/form/sections.ts). */
export type ApplicationSection =
  | 'general'
  | 'urls'
  | 'tokens'
  | 'signing'
  | 'who'
  | 'requirements'
  | 'where'
  | 'consent'
  | 'claims'
  | 'subject'
  | 'roles'
  | 'client-auth'
  | 'public-keys'
  | 'metadata-url'
  | 'metadata-document'
  | 'acs'
  | 'slo'
  | 'keys'
  | 'saml-signing'
  | 'name-id'
  | 'attributes'
  | 'headers'
  | 'paths'
  | 'programs'
  | 'provisioning';

/** Rules of what a field gives, in rules/field-rights.ts. */
export type FieldRight =
  | 'access'
  | 'people'
  | 'path rules'
  | 'programs'
  | 'apis'
  | 'evaluation'
  | 'permissions'
  | 'user fields'
  | 'role names';

export interface ApplicationField extends DescribedField<ApplicationSection> {
  /**
   * What its value gives to the application, and so takes of everyone who changes it. `nothing`: what it says about the application is what
   * the permission to change applications is for, such as the usual data of the users who sign in to it, its addresses and its keys, and
   * how and from where they sign in: without these demands the access rule still closes it to the same people. A field by whose change other
   * people get in, such as `access`, or more rights, roles, APIs or hidden data of people go out, names its rule.
   */
  gives: 'nothing' | FieldRight;
  /** A program that registers itself may set it (RFC 7591 2, OpenID Connect Dynamic Client Registration 2). An administrator alone sets the others. */
  isRegistrable?: true;
  /** For people only: no address, key or right, so that a change takes no fresh sign-in. */
  isDescriptive?: true;
}

export const applicationFields = z.registry<ApplicationField>();

/** The fields of these values that the schema has, in its order. */
export function fieldsIn<Schema extends z.ZodObject>({ shape }: Schema, values: object): z.output<Schema> {
  const given = values as Record<string, unknown>;
  return defined(Object.fromEntries(Object.keys(shape).map((key) => [key, given[key]]))) as z.output<Schema>;
}

/** The fields with this property. */
export function fieldsWith(
  property: 'isRegistrable' | 'isDescriptive',
  ...shapes: readonly Readonly<Record<string, z.ZodType>>[]
): string[] {
  const all = shapes.flatMap((shape) => describedFields(shape, applicationFields));
  return all.flatMap(({ name, about }) => (about[property] ? name : []));
}
