# A Django project with django-allauth, as Paperless-ngx has it: its settings come from the environment that the guide names.
import json
import os
import sys

import django
from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpResponse
from django.urls import include, path

folder = os.environ["ALLAUTH_DATA"]
settings.configure(
    DEBUG=True,
    SECRET_KEY="of-this-test",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(folder, "db.sqlite3")}},
    INSTALLED_APPS=[
        "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.messages",
        "allauth", "allauth.account", "allauth.socialaccount", *os.environ["PAPERLESS_APPS"].split(","),
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware", "allauth.account.middleware.AccountMiddleware",
    ],
    TEMPLATES=[{
        "BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
        "OPTIONS": {"context_processors": ["django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
                                           "django.contrib.messages.context_processors.messages"]},
    }],
    AUTHENTICATION_BACKENDS=["django.contrib.auth.backends.ModelBackend", "allauth.account.auth_backends.AuthenticationBackend"],
    SOCIALACCOUNT_PROVIDERS=json.loads(os.environ["PAPERLESS_SOCIALACCOUNT_PROVIDERS"]),
    # As Paperless-ngx has them.
    SOCIALACCOUNT_AUTO_SIGNUP=True, ACCOUNT_EMAIL_VERIFICATION="optional", ACCOUNT_LOGOUT_ON_GET=True,
    SOCIALACCOUNT_LOGIN_ON_GET=True, LOGIN_REDIRECT_URL="/", LOGOUT_REDIRECT_URL=os.environ["PAPERLESS_LOGOUT_REDIRECT_URL"],
    EMAIL_BACKEND="django.core.mail.backends.console.EmailBackend", DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)

django.setup()


def home(request):
    name = request.user.username if request.user.is_authenticated else ""
    return HttpResponse(f'<h1 data-user="{name}">Documents</h1>')


urlpatterns = [path("", home), path("accounts/", include("allauth.urls"))]

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
