// The QR code of an authenticator app. Loaded when the first one is made.
import QRCode from 'qrcode';

/** The text as the `src` of an image, an SVG in a data URL. */
export async function qrCode(text: string): Promise<string> {
  const svg = await QRCode.toString(text, { type: 'svg', margin: 0 });
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
}
