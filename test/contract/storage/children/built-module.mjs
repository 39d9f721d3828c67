/**
 * A module of the built product, by its path below dist/. Imported by a computed address, so that checking types does not read dist/.
 *
 * @param {string} path
 * @returns {Promise<unknown>}
 */
export function builtModule(path) {
  return import(new URL(`../../../../dist/${path}`, import.meta.url).href);
}
