/** The thread of a source that ends without a message. */
process.exit(3);
