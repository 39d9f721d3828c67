/** The version of `package.json`, which a test compares. */
export const PRODUCT_VERSION = '0.1.0';
