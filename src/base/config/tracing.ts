// The environment variables of OpenTelemetry, under their standard names, as the configuration of the trace exporter.

/** Parses `name=value,name=value`, values percent-encoded (W3C Baggage); undefined when it is malformed. */
export function parseHeaders(text: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (const part of text.split(',').filter((entry) => entry.trim() !== '')) {
    const [, name, value] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
    const decoded = value === undefined ? undefined : decode(value);
    // A control character would begin another header.
    if (name === undefined || decoded === undefined || /[^\t\x20-\x7e]/.test(decoded)) return undefined;
    headers[name] = decoded;
  }
  return headers;
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** The address of traces below the base address of a collector (OTLP exporter specification, endpoint URLs). */
export function tracesUrl(endpoint: string): URL {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url;
}
