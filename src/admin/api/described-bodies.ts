// JSON Schemas of bodies whose fields the action itself checks, because what they may be depends on each other or on what is stored.
import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;
type Properties = Record<string, JsonSchema>;

/** The fields of an object as JSON Schema, and which of them have no default. */
export function fieldsOf(shape: z.core.$ZodShape): { properties: Properties; required: string[] } {
  const { properties = {}, required = [] } = z.toJSONSchema(z.object(shape), { io: 'input', unrepresentable: 'any' });
  return { properties: properties as Properties, required };
}

/** The JSON merge patch (RFC 7396) of such an object: each field, with null for its default. */
export function mergePatchOf(shape: z.core.$ZodShape): JsonSchema {
  return { type: 'object', properties: changeable(fieldsOf(shape).properties), additionalProperties: false };
}

function changeable(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, orNull(field)]));
}

/** A field or null; a group is merged field by field, so each of its fields may be null as well. */
function orNull({ default: _default, ...field }: JsonSchema): JsonSchema {
  if (field.type !== 'object') return { anyOf: [field, { type: 'null' }] };
  const { required: _required, properties, additionalProperties: others, ...rest } = field;
  const group = {
    ...rest,
    ...(properties !== undefined && { properties: changeable(properties as Properties) }),
    ...(others !== undefined && {
      additionalProperties: typeof others === 'object' && others !== null ? orNull(others as JsonSchema) : others,
    }),
  };
  return { anyOf: [group, { type: 'null' }] };
}
