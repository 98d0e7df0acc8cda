import jwt  # PyJWT[crypto]

ISSUER = 'https://id.example.com'
KEYS = jwt.PyJWKClient(f'{ISSUER}/jwks')
AUDIENCE = 'https://wiki.example.com'

def user_of(token):
    options = {'algorithms': ['ES256'], 'issuer': ISSUER, 'audience': AUDIENCE, 'options': {'require': ['exp']}}
    checked = jwt.decode_complete(token, KEYS.get_signing_key_from_jwt(token), **options)
    if checked['header'].get('typ') != 'gatehouse-website+jwt':
        raise jwt.InvalidTokenError('another kind of token')
    return checked['payload']
