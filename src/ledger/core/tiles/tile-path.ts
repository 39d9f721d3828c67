/**
 * C2SP tlog-tiles: `tile/<level>/<index>[.p/<width>]` and `tile/entries/<index>[.p/<width>]`. A full tile has 256 hashes (height 8)
 * and no suffix.
 */
export interface Tile {
  /** 0 to 63 for hashes, `entries` for the leaves themselves. */
  readonly level: number | 'entries';
  readonly index: number;
  /** 1 to 256. */
  readonly width: number;
}

export const TILE_WIDTH = 256;
export const TILE_HEIGHT = 8;
const LEVEL_MAX = 63;
const PATH = /^tile\/(entries|0|[1-9][0-9]?)\/((?:x[0-9]{3}\/)*[0-9]{3})(?:\.p\/([1-9][0-9]{0,2}))?$/;

export function tilePath({ level, index, width }: Tile): string {
  const suffix = width === TILE_WIDTH ? '' : `.p/${width}`;
  return `tile/${level}/${indexPath(index)}${suffix}`;
}

/** Null for everything that is not exactly the path `tilePath` writes for some tile. */
export function parseTilePath(path: string): Tile | null {
  const [, level, digits, width] = PATH.exec(path) ?? [];
  if (level === undefined || digits === undefined) return null;
  const tile: Tile = {
    level: level === 'entries' ? level : Number(level),
    index: Number(digits.replaceAll(/[x/]/g, '')),
    width: width === undefined ? TILE_WIDTH : Number(width),
  };
  if (tile.level !== 'entries' && tile.level > LEVEL_MAX) return null;
  return tilePath(tile) === path && Number.isSafeInteger(tile.index) ? tile : null;
}

/** 1234067 is `x001/x234/067`. */
function indexPath(index: number): string {
  const digits = String(index);
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, '0');
  return (padded.match(/\d{3}/g) ?? []).map((part, at, all) => (at < all.length - 1 ? `x${part}` : part)).join('/');
}
