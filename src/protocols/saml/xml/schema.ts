// The OASIS schemas, compiled once by libxml2 in about 30 ms; validating a message then takes 0.1 ms. libxml2 also checks
// well-formedness, because xmldom repairs what it should reject.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  ParseOption,
  XmlBufferInputProvider,
  XmlDocument,
  XmlLibError,
  XsdValidator,
  xmlCleanupInputProvider,
  xmlRegisterInputProvider,
} from 'libxml2-wasm';
import { packageRoot } from '../../../base/platform/package.ts';
import { namespaces } from './names.ts';

/** Undefined when the text is valid, else what is wrong with it, for the log. */
export type XmlValidator = (text: string) => XmlFault | undefined;
export interface XmlFault {
  kind: 'not well-formed' | 'not schema valid';
  reason: string;
}

export interface SamlSchemas {
  /** Messages: AuthnRequest, Response, LogoutRequest, LogoutResponse. */
  protocol: XmlValidator;
  /** EntityDescriptor. */
  metadata: XmlValidator;
}

const folder = path.join(packageRoot, 'src', 'protocols', 'saml', 'xml', 'schemas');
const files = [
  'saml-schema-protocol-2.0.xsd',
  'saml-schema-assertion-2.0.xsd',
  'saml-schema-metadata-2.0.xsd',
  'sstc-saml-metadata-ui-v1.0.xsd',
  'xmldsig-core-schema.xsd',
  'xenc-schema.xsd',
  'xenc-schema-11.xsd',
  'xml.xsd',
] as const;
/** The URLs under which the schemas import one another. */
const filesByUrl: Record<string, (typeof files)[number]> = {
  'http://www.w3.org/TR/2002/REC-xmldsig-core-20020212/xmldsig-core-schema.xsd': 'xmldsig-core-schema.xsd',
  'http://www.w3.org/TR/2002/REC-xmlenc-core-20021210/xenc-schema.xsd': 'xenc-schema.xsd',
  'http://www.w3.org/2001/xml.xsd': 'xml.xsd',
};

// No external document is loaded and no entity is substituted.
const parseOption = ParseOption.XML_PARSE_NONET | ParseOption.XML_PARSE_NO_XXE | ParseOption.XML_PARSE_NO_SYS_CATALOG;

let loaded: SamlSchemas | undefined;

/** The schemas, which the first call in this process reads and compiles. */
export function loadSamlSchemas(): SamlSchemas {
  loaded ??= compileAll();
  return loaded;
}

function compileAll(): SamlSchemas {
  const provider = new XmlBufferInputProvider({});
  for (const file of files) provider.addBuffer(`saml:/${file}`, readFileSync(path.join(folder, file)));
  for (const [url, file] of Object.entries(filesByUrl)) provider.addBuffer(url, readFileSync(path.join(folder, file)));
  xmlRegisterInputProvider(provider);
  try {
    return {
      protocol: validatorOf(compile(namespaces.samlp, 'saml-schema-protocol-2.0.xsd')),
      metadata: validatorOf(compile(namespaces.md, 'saml-schema-metadata-2.0.xsd')),
    };
  } finally {
    xmlCleanupInputProvider(); // from now on libxml2 cannot load anything that a document names
  }
}

/** Checks well-formedness alone, for text without one of these schemas. */
export const validateWellFormed: XmlValidator = (text) => validateText(text, () => {});

/** A schema and that of XML Encryption 1.1: an EncryptionMethod may have an xenc11:MGF, which no schema of SAML imports. */
function compile(namespace: string, file: (typeof files)[number]): XsdValidator {
  const imports = [
    [namespace, file],
    [namespaces.xenc11, 'xenc-schema-11.xsd'],
  ].map(([name, location]) => `<import namespace="${name}" schemaLocation="${location}"/>`);
  const schema = `<schema xmlns="http://www.w3.org/2001/XMLSchema">${imports.join('')}</schema>`;
  return XsdValidator.fromDoc(XmlDocument.fromBuffer(Buffer.from(schema), { url: 'saml:/schema.xsd' }));
}

function validatorOf(validator: XsdValidator): XmlValidator {
  return (text) => validateText(text, (document) => validator.validate(document));
}

function validateText(text: string, validate: (document: XmlDocument) => void): XmlFault | undefined {
  let document: XmlDocument | undefined;
  try {
    // As bytes: libxml2 would end a string at a NUL character, which xmldom does not.
    document = XmlDocument.fromBuffer(Buffer.from(text), { option: parseOption });
    validate(document);
    return undefined;
  } catch (error) {
    if (!(error instanceof XmlLibError)) throw error;
    return { kind: document ? 'not schema valid' : 'not well-formed', reason: error.message.trim() };
  } finally {
    document?.dispose();
  }
}
