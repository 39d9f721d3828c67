/**
 * Everything but the unreserved characters of RFC 3986 section 2.3 as percent-encoded UTF-8. The result is the same in a path segment and
 * in a query, and no URL parser changes it. Throws a plain `Error` on half of a surrogate pair.
 */
export function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
